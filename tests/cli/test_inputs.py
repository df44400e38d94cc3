"""What a user does wrong: each message says what and where, and nothing half-written stays."""
import json
import struct

import pytest

MODEL = ["--num-layers", 1, "--hidden-size", 32, "--num-attention-heads", 2, "--position-embedding-type", "rope",
         "--normalization", "RMSNorm", "--swiglu", "--disable-bias-linear", "--model-running-mode", "difflm-noshift",
         "--tokenizer-type", "NullTokenizer", "--vocab-size", 60, "--make-vocab-size-divisible-by", 8]
TRAIN = [*MODEL, "--seq-length", 16, "--train-iters", 3, "--lr", 1e-3, "--eval-iters", 0]


@pytest.fixture
def fails(megadlm):
    """Runs a command that must fail with exit code `code` and messages."""

    def run(*arguments, says, code=1, **options):
        result = megadlm(*arguments, check=False, **options)
        assert result.returncode == code, (result.returncode, result.stderr)
        for text in [says] if isinstance(says, str) else says:
            assert text in result.stderr, result.stderr
        assert "frame #" not in result.stderr and "terminate" not in result.stderr
        assert result.stderr.count("\n") <= 12
        return result

    return run


@pytest.fixture
def dataset(tmp_path, megadlm):
    (tmp_path / "a.txt").write_text("".join(" ".join(str((i + j) % 60) for j in range(30)) + "\n" for i in range(20)))
    megadlm("preprocess", "--input", tmp_path / "a.txt", "--plain-text", "--output-prefix", tmp_path / "a", "--tokenizer-type",
            "NullTokenizer", "--vocab-size", 60)
    return tmp_path / "a_text_document"


def test_usage_errors(fails):
    fails("pretrian", says=["pretrian", "pretrain"], code=2)
    fails("pretrain", "--hiden-size", 5, says=["--hiden-size", "--hidden-size"], code=2)
    fails("pretrain", "--hidden-size", "many", says=["--hidden-size", "many"], code=2)
    fails("pretrain", "--rotary-percent", 1.5, says=["--rotary-percent", "1.5"], code=2)
    fails("pretrain", "--normalization", "BatchNorm", says=["BatchNorm", "LayerNorm", "RMSNorm"], code=2)
    fails("pretrain", says=["--num-layers", "--hidden-size", "--seq-length"], code=2)
    fails("pretrain", *TRAIN, "--mock-data", "--bf16", "--fp16", says=["bf16", "fp16"], code=2)
    fails("pretrain", *TRAIN, "--mock-data", "--micro-batch-size", 3, "--global-batch-size", 8, says=["3", "8"], code=2)
    fails("generate", says="--load", code=2)
    fails("evaluate", "--load", "x", says="--data-path", code=2)
    fails("tokenizer", "tain", says="tain", code=2)
    fails("pretrain", *TRAIN, "--mock-data", says="WORLD_SIZE=2", code=2, env={"WORLD_SIZE": "2"})


def test_configuration_files(tmp_path, fails):
    bad = tmp_path / "bad.yaml"
    bad.write_text("num_layers: 2\nhiden_size: 64\n")
    fails("pretrain", "--config", bad, says=["bad.yaml:2", "hiden_size", "hidden"], code=2)
    bad.write_text("num_layers: [1\n")
    fails("pretrain", "--config", bad, says="bad.yaml", code=2)
    fails("pretrain", "--config", tmp_path / "none.yaml", says="none.yaml")


def test_shapes(fails):
    fails("pretrain", *TRAIN, "--mock-data", "--num-attention-heads", 5, says=["num-attention-heads", "5", "32"], code=2)
    fails("pretrain", *TRAIN, "--mock-data", "--num-attention-heads", 4, "--group-query-attention", "--num-query-groups", 3,
          says=["num-query-groups", "3"], code=2)
    fails("pretrain", *TRAIN, "--mock-data", "--geglu", says=["swiglu", "geglu"], code=2)


def test_memory(fails):
    fails("pretrain", *TRAIN, "--mock-data", "--hidden-size", 65536, "--num-attention-heads", 64, "--num-layers", 100,
          says=["GiB"])


def test_text_lines(tmp_path, fails, megadlm):
    def preprocess(content, **expected):
        (tmp_path / "in.jsonl").write_bytes(content)
        fails("preprocess", "--input", tmp_path / "in.jsonl", "--output-prefix", tmp_path / "out", "--tokenizer-type",
              "NullTokenizer", "--vocab-size", 60, **expected)
        assert not list(tmp_path.glob("out*"))

    good = b'{"text": "1 2"}\n'
    preprocess(good + b'{"text": "\xff"}\n', says=["in.jsonl:2", "UTF-8"])
    preprocess(good + good + b'{"text": "1"\n', says=["in.jsonl:3", "JSON"])
    preprocess(good + b'{"body": "1"}\n', says=["in.jsonl:2", "'text'"])
    preprocess(b'{"text": 7}\n', says=["in.jsonl:1", "string"])
    preprocess(b"", says="no text")
    preprocess(good + b'{"text": "99"}\n', says=["in.jsonl:2", "99"])
    (tmp_path / "in.jsonl").write_bytes(good + b'{"body": "1"}\n' + b"nothing\n" + good)
    output = megadlm("preprocess", "--input", tmp_path / "in.jsonl", "--output-prefix", tmp_path / "out", "--tokenizer-type",
                     "NullTokenizer", "--vocab-size", 60, "--on-error", "skip").stdout
    assert "2 documents" in output and "skipped key 'text' is missing: 1" in output and "malformed JSON: 1" in output
    fails("preprocess", "--input", tmp_path / "none.jsonl", "--output-prefix", tmp_path / "x", "--tokenizer-type",
          "NullTokenizer", "--vocab-size", 60, says="none.jsonl")


def test_datasets(tmp_path, dataset, fails, megadlm):
    def pretrain(prefix, *more, **expected):
        fails("pretrain", *TRAIN, "--data-path", prefix, "--split", "1", "--data-cache-path", tmp_path / "cache", *more,
              "--save", tmp_path / "run", **expected)
        assert not (tmp_path / "run").exists()

    pretrain(tmp_path / "nothing", says="nothing")
    pretrain(dataset, "--seq-length", 4096, says=["--seq-length", "4096"])
    pretrain(dataset, "--vocab-size", 20, says=["vocabulary has"])
    index, data = dataset.with_suffix(".idx").read_bytes(), dataset.with_suffix(".bin").read_bytes()
    dataset.with_suffix(".bin").write_bytes(data[:-1])
    pretrain(dataset, says=[".bin", str(len(data) - 1), str(len(data))])
    dataset.with_suffix(".bin").write_bytes(data)
    dataset.with_suffix(".idx").write_bytes(index[:17] + struct.pack("<B", 4) + index[18:])
    pretrain(dataset, says=".idx")
    dataset.with_suffix(".idx").write_bytes(index[:-8])
    pretrain(dataset, says=".idx")
    dataset.with_suffix(".idx").write_bytes(b"")
    pretrain(dataset, says=[".idx", "0 bytes"])


def test_checkpoints(tmp_path, fails, megadlm):
    run = tmp_path / "run"
    megadlm("pretrain", *TRAIN, "--mock-data", "--save", run)
    fails("pretrain", *TRAIN, "--mock-data", "--load", run, "--hidden-size", 64, "--train-iters", 5, says=["shape", "iter_0000003"])
    fails("pretrain", *TRAIN, "--mock-data", "--load", run, "--num-layers", 2, "--train-iters", 5, says="another model")
    model = run / "iter_0000003/model.safetensors"
    content = model.read_bytes()
    for command in (["pretrain", *TRAIN, "--mock-data", "--load", run, "--train-iters", 5], ["generate", "--load", run], ["inspect", run]):
        model.write_bytes(content[:-1])
        fails(*command, says=["model.safetensors", "cut off or changed"])
        model.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
        fails(*command, says=["model.safetensors", "checksum"])
    model.unlink()
    fails("generate", "--load", run, says=["model.safetensors", "missing"])
    (run / "latest_checkpointed_iteration.txt").write_text("9\n")
    fails("generate", "--load", run, says="iter_0000009")
    fails("generate", "--load", tmp_path / "nothing", says="no checkpoint")


def test_generation(tmp_path, fails, megadlm):
    megadlm("pretrain", *TRAIN, "--mock-data", "--save", tmp_path / "run")
    load = ["generate", "--load", tmp_path / "run"]
    fails(*load, "--gen-length", 500, says=["500", "positions"])
    fails(*load, "--gen-length", 8, "--steps", 1, "--block-length", 2, says="--steps 1")
    fails(*load, "--infill", "1 2 3", says="no gap")
    fails(*load, "--infill", "1 [MASK]", "--prompt", "2", says="--infill", code=2)
    fails(*load, "--prompt", "77", says="77")
    megadlm("pretrain", *TRAIN, "--mock-data", "--model-running-mode", "gpt", "--save", tmp_path / "gpt")
    fails("generate", "--load", tmp_path / "gpt", "--infill", "1 [MASK]", says="autoregressive")


def test_numbers_that_explode(tmp_path, fails, megadlm):
    explode = [*TRAIN, "--mock-data", "--lr", 1e30, "--train-iters", 20, "--save", tmp_path / "run", "--clip-grad", 0]
    fails("pretrain", *explode, says=["iteration", "nothing was updated"])
    result = fails("pretrain", *explode, "--on-non-finite", "skip", "--max-consecutive-skips", 3, says="3 steps in a row")
    assert result.stderr.count("the step is skipped") == 2
    assert not list((tmp_path / "run").glob("iter_*")) if (tmp_path / "run").exists() else True


def test_dry_run_needs_no_files(megadlm):
    output = megadlm("pretrain", "--num-layers", 4, "--hidden-size", 256, "--num-attention-heads", 4, "--seq-length", 128,
                     "--vocab-size", 1000, "--lr", 1e-3, "--train-iters", 10, "--tokenizer-model", "/nowhere/tokenizer.json",
                     "--data-path", "/nowhere/data", "--dry-run").stdout
    for text in ("arameters", "FLOP", "GiB" if "GiB" in output else "MiB", "hidden_size: 256"):
        assert text in output


def test_help_and_version(megadlm):
    assert "pretrain" in megadlm("help").stdout
    for command in ("pretrain", "preprocess", "evaluate", "generate", "inspect", "doctor"):
        assert "--" in megadlm("help", command).stdout
    assert "--hidden-size" in megadlm("pretrain", "--help").stdout
    assert megadlm("--version").stdout.strip()
    assert json.loads(megadlm("doctor", "--json").stdout)["cores"] >= 1
