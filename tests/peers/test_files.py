"""Our files read by the formats' own libraries, and the reverse."""
import json
import struct

import numpy
from safetensors.numpy import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

MODEL = ["--num-layers", 1, "--hidden-size", 32, "--num-attention-heads", 2, "--position-embedding-type", "rope",
         "--normalization", "RMSNorm", "--swiglu", "--disable-bias-linear", "--model-running-mode", "difflm-noshift",
         "--tokenizer-type", "NullTokenizer", "--vocab-size", 60, "--make-vocab-size-divisible-by", 8, "--seq-length", 16]


def write_pair(prefix, documents, dtype, code):
    lengths = numpy.array([len(document) for document in documents], dtype=numpy.int32)
    data = numpy.concatenate([numpy.array(document, dtype=dtype) for document in documents])
    data.tofile(f"{prefix}.bin")
    pointers = numpy.concatenate([[0], numpy.cumsum(lengths)[:-1]]).astype(numpy.int64) * numpy.dtype(dtype).itemsize
    with open(f"{prefix}.idx", "wb") as file:
        file.write(b"MMIDIDX\x00\x00" + struct.pack("<QBQQ", 1, code, len(documents), len(documents) + 1))
        file.write(lengths.tobytes() + pointers.tobytes() + numpy.arange(len(documents) + 1, dtype=numpy.int64).tobytes())


def test_pairs_written_by_numpy_train_a_model(tmp_path, megadlm):
    documents = [[(i * j) % 60 for j in range(5 + i)] for i in range(40)]
    for name, dtype, code in (("narrow", numpy.uint16, 8), ("wide", numpy.int32, 4)):
        write_pair(tmp_path / name, documents, dtype, code)
        report = json.loads(megadlm("inspect", tmp_path / name, "--json").stdout)
        assert report["documents"] == 40 and report["tokens"] == sum(map(len, documents))
    losses = []
    for name in ("narrow", "wide"):
        megadlm("pretrain", *MODEL, "--data-path", tmp_path / name, "--split", "1", "--train-iters", 3, "--lr", 1e-3,
                "--log-interval", 1, "--save", tmp_path / f"run-{name}", "--data-cache-path", tmp_path / "cache")
        losses.append([json.loads(line)["loss"] for line in open(tmp_path / f"run-{name}/metrics.jsonl")])
    assert losses[0] == losses[1] and len(losses[0]) == 3


def test_our_pairs_read_in_numpy(tmp_path, megadlm):
    texts = ["1 2 3", "4", "5 6 7 8"]
    (tmp_path / "a.txt").write_text("\n".join(texts) + "\n")
    megadlm("preprocess", "--input", tmp_path / "a.txt", "--plain-text", "--output-prefix", tmp_path / "a", "--tokenizer-type",
            "NullTokenizer", "--vocab-size", 60, "--append-eod")
    ids = numpy.fromfile(tmp_path / "a_text_document.bin", dtype=numpy.uint16).tolist()
    assert ids == [1, 2, 3, 60, 4, 60, 5, 6, 7, 8, 60]
    index = (tmp_path / "a_text_document.idx").read_bytes()
    assert numpy.frombuffer(index, numpy.int32, 3, 34).tolist() == [4, 2, 5]
    assert numpy.frombuffer(index, numpy.int64, 3, 46).tolist() == [0, 8, 12]
    assert numpy.frombuffer(index, numpy.int64, 4, 70).tolist() == [0, 1, 2, 3]


def test_checkpoints_open_in_safetensors_and_events_in_tensorboard(tmp_path, megadlm):
    megadlm("pretrain", *MODEL, "--mock-data", "--train-iters", 4, "--lr", 1e-3, "--log-interval", 1, "--save", tmp_path / "run",
            "--tensorboard-dir", tmp_path / "events")
    checkpoint = tmp_path / "run/iter_0000004"
    tensors = load_file(checkpoint / "model.safetensors")
    report = json.loads(megadlm("inspect", checkpoint, "--json").stdout)
    assert {name: list(tensor.shape) for name, tensor in tensors.items()} == {t["name"]: t["shape"] for t in report["tensors"]}
    assert sum(tensor.size for tensor in tensors.values()) == report["parameters"]
    moments = load_file(checkpoint / "optimizer.safetensors")
    assert len(moments) == 2 * len(tensors) and all(numpy.isfinite(tensor).all() for tensor in moments.values())
    events = EventAccumulator(str(tmp_path / "events"))
    events.Reload()
    lines = [json.loads(line) for line in open(tmp_path / "run/metrics.jsonl")]
    loss = events.Scalars("loss")
    assert [event.step for event in loss] == [1, 2, 3, 4]
    assert all(abs(event.value - line["loss"]) < 1e-5 for event, line in zip(loss, lines))
