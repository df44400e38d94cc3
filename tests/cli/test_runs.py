"""Runs as users have them: killed, resumed, stopped by signals, on full disks."""
import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = ["--num-layers", 2, "--hidden-size", 64, "--num-attention-heads", 2, "--position-embedding-type", "rope",
       "--normalization", "RMSNorm", "--swiglu", "--disable-bias-linear", "--qk-layernorm", "--model-running-mode", "difflm-noshift",
       "--tokenizer-type", "NullTokenizer", "--vocab-size", 200, "--seq-length", 32, "--micro-batch-size", 2,
       "--global-batch-size", 4, "--lr", 1e-3, "--lr-warmup-iters", 5, "--bf16", "--log-interval", 5]


@pytest.fixture
def data(tmp_path, megadlm):
    (tmp_path / "a.txt").write_text("".join(" ".join(str((i * j) % 200) for j in range(50)) + "\n" for i in range(60)))
    megadlm("preprocess", "--input", tmp_path / "a.txt", "--plain-text", "--output-prefix", tmp_path / "a", "--tokenizer-type",
            "NullTokenizer", "--vocab-size", 200)
    return ["--data-path", tmp_path / "a_text_document", "--split", "90,10", "--eval-iters", 2, "--eval-interval", 20]


def start(megadlm_path, arguments):
    return subprocess.Popen([megadlm_path, "pretrain", *map(str, arguments)], stderr=subprocess.PIPE, text=True)


def wait_for(path, seconds=60):
    end = time.time() + seconds
    while not path.exists():
        assert time.time() < end, f"{path} did not appear"
        time.sleep(0.01)


def weights(run):
    iteration = int((run / "latest_checkpointed_iteration.txt").read_text())
    folder = run / f"iter_{iteration:07d}"
    return iteration, (folder / "model.safetensors").read_bytes(), (folder / "optimizer.safetensors").read_bytes()


@pytest.mark.parametrize("delay", [0.0, 0.03, 0.11])
def test_a_killed_run_resumes_bit_for_bit(tmp_path, megadlm, megadlm_path, data, delay):
    arguments = [*RUN, *data, "--train-iters", 60, "--save-interval", 10]
    megadlm("pretrain", *arguments, "--save", tmp_path / "whole")
    process = start(megadlm_path, [*arguments, "--save", tmp_path / "killed", "--load", tmp_path / "killed"])
    wait_for(tmp_path / "killed/latest_checkpointed_iteration.txt")
    time.sleep(delay)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    resumed = megadlm("pretrain", *arguments, "--save", tmp_path / "killed", "--load", tmp_path / "killed")
    assert "loaded" in resumed.stderr
    assert weights(tmp_path / "whole") == weights(tmp_path / "killed")
    lines = [[json.loads(line) for line in open(tmp_path / name / "metrics.jsonl")] for name in ("whole", "killed")]
    assert [line["iteration"] for line in lines[0]] == [line["iteration"] for line in lines[1]]
    assert [line["valid_loss"] for line in lines[0] if "valid_loss" in line] == [
        line["valid_loss"] for line in lines[1] if "valid_loss" in line]
    assert lines[0][-1]["loss"] == lines[1][-1]["loss"]


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGUSR1])
def test_signals_save_and_end(tmp_path, megadlm, megadlm_path, data, sent):
    arguments = [*RUN, *data, "--train-iters", 100000, "--save", tmp_path / "run", "--log-interval", 1]
    process = start(megadlm_path, arguments)
    wait_for(tmp_path / "run/metrics.jsonl")
    process.send_signal(sent)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert sent.name in errors
    assert weights(tmp_path / "run")[0] >= 1


def test_fp16_trains_resumes_and_is_evaluated(tmp_path, megadlm, data):
    """The dynamic loss scale starts too high: the first steps overflow, are skipped and are no errors."""
    arguments = [*("--fp16" if a == "--bf16" else a for a in RUN), *data, "--save-interval", 20, "--log-interval", 1]
    megadlm("pretrain", *arguments, "--train-iters", 40, "--save", tmp_path / "whole")
    run = tmp_path / "parts"
    megadlm("pretrain", *arguments, "--train-iters", 40, "--exit-interval", 20, "--save", run)
    megadlm("pretrain", *arguments, "--train-iters", 40, "--save", run, "--load", run)
    assert weights(tmp_path / "whole") == weights(run)
    lines = [json.loads(line) for line in open(run / "metrics.jsonl")]
    assert 5 < lines[-1]["skipped_iterations"] < 25
    assert lines[-1]["loss_scale"] < lines[0]["loss_scale"]
    result = megadlm("evaluate", "--load", run, *data[:2])
    assert "nats" in result.stdout


def test_an_empty_folder_starts_fresh(tmp_path, megadlm, data):
    (tmp_path / "empty").mkdir()
    result = megadlm("pretrain", *RUN, *data, "--train-iters", 8, "--load", tmp_path / "empty")
    assert "starts fresh" in result.stderr


def test_only_the_newest_checkpoints_are_kept(tmp_path, megadlm, data):
    megadlm("pretrain", *RUN, *data, "--train-iters", 8, "--save-interval", 2, "--keep-last", 2, "--save", tmp_path / "run")
    assert sorted(path.name for path in (tmp_path / "run").glob("iter_*")) == ["iter_0000006", "iter_0000008"]


def test_a_full_disk_keeps_the_earlier_checkpoint(tmp_path, megadlm, data):
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", disk]).returncode != 0:
        pytest.skip("needs the right to mount a small tmpfs")
    try:
        arguments = [*RUN, *data, "--train-iters", 6, "--save-interval", 2, "--save", disk]
        result = megadlm("pretrain", *arguments, check=False)
        assert result.returncode == 1
        assert "No space left on device" in result.stderr and str(disk) in result.stderr
        assert not list(disk.glob("*tmp*"))
        iteration = weights(disk)[0]
        megadlm("inspect", disk)
        assert 2 <= iteration < 6
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("mode", ["difflm-noshift", "difflm-shift", "gpt"])
def test_a_model_learns_is_evaluated_and_generates(tmp_path, megadlm, mode):
    (tmp_path / "a.txt").write_text("".join(" ".join(str((i + j) % 50) for j in range(40)) + "\n" for i in range(100)))
    null = ["--tokenizer-type", "NullTokenizer", "--vocab-size", 50]
    megadlm("preprocess", "--input", tmp_path / "a.txt", "--plain-text", "--output-prefix", tmp_path / "a", *null)
    megadlm("pretrain", *RUN, *null, "--model-running-mode", mode, "--data-path", tmp_path / "a_text_document", "--split", "1",
            "--train-iters", 300, "--lr", 5e-3, "--save", tmp_path / "run", "--seq-length", 20)
    report = json.loads(megadlm("evaluate", "--load", tmp_path / "run", "--data-path", tmp_path / "a_text_document", "--json").stdout)
    assert report["objective"] == mode and report["nats_per_token"] < 2.5 and report["bits_per_byte"] > 0
    again = json.loads(megadlm("evaluate", "--load", tmp_path / "run", "--data-path", tmp_path / "a_text_document", "--json",
                               "--batch-size", 3).stdout)
    assert abs(report["nats_per_token"] - again["nats_per_token"]) < 2e-2
    command = ["generate", "--load", tmp_path / "run", "--prompt", "1 2 3 4", "--gen-length", 4, "--json"]
    first, second = (json.loads(megadlm(*command).stdout) for _ in range(2))
    assert first["ids"] == second["ids"] and len(first["ids"]) <= 4
    if mode != "gpt":
        watched = megadlm("generate", "--load", tmp_path / "run", "--infill", "1 2 [MASK:2] 5 6", "--watch")
        assert "step 1/2" in watched.stderr and watched.stdout.startswith("1 2 ") and watched.stdout.endswith("5 6\n")


def test_initial_weights_have_a_checksum(megadlm):
    command = ["pretrain", *RUN, "--mock-data", "--train-iters", 10, "--init-checksum"]
    assert megadlm(*command).stdout == megadlm(*command).stdout
    assert megadlm(*command).stdout != megadlm(*command, "--seed", 2).stdout


def test_accumulation_and_threads_do_not_change_the_losses(tmp_path, megadlm, data):
    losses = []
    for name, more in (("a", ["--micro-batch-size", 4]), ("b", ["--micro-batch-size", 1]), ("c", ["--num-threads", 1])):
        arguments = [argument for argument in RUN if argument != "--bf16"]
        megadlm("pretrain", *arguments, *data, *more, "--train-iters", 20, "--log-interval", 1, "--save", tmp_path / name)
        losses.append([json.loads(line)["loss"] for line in open(tmp_path / name / "metrics.jsonl")])
    for other in losses[1:]:
        assert all(abs(a / b - 1) < 1e-5 for a, b in zip(losses[0], other))


@pytest.mark.parametrize("config", sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "configs").rglob("*.yaml")))
def test_shipped_configurations_pass_a_dry_run(megadlm, config):
    if "/models/" in config:
        more = ["--seq-length", 512, "--lr", 1e-3, "--train-iters", 1]
    else:
        more = ["--config", ROOT / "configs/models/dlm-79m.yaml", "--save", "run"]
    output = megadlm("pretrain", *more, "--config", ROOT / config, "--vocab-size", 1000, "--dry-run").stdout
    assert "arameters" in output


def test_the_reference_page_is_current():
    subprocess.run([ROOT / "scripts/reference-docs", "--check"], check=True)
