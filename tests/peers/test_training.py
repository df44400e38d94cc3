"""Ten training steps here and in PyTorch + transformers from the same weights and masks."""
import subprocess

import pytest
import torch
from safetensors.torch import load_file
from transformers import Qwen3Config, Qwen3ForCausalLM

STEPS, ROWS, LENGTH, MASK = 10, 4, 24, 96
OPTIMIZER = ["--lr", "1e-3", "--adam-beta1", "0.9", "--adam-beta2", "0.95", "--weight-decay", "0.1", "--clip-grad", "1.0",
             "--lr-decay-style", "constant"]


def make_model(folder, tied):
    torch.manual_seed(1)
    config = Qwen3Config(vocab_size=97, hidden_size=48, num_hidden_layers=3, num_attention_heads=6, num_key_value_heads=2,
                         head_dim=16, intermediate_size=80, max_position_embeddings=64, tie_word_embeddings=tied,
                         attn_implementation="eager", use_cache=False, initializer_range=0.08)
    model = Qwen3ForCausalLM(config).float()
    model.save_pretrained(folder)
    return model


def bidirectional(model):
    for module in model.modules():
        if hasattr(module, "is_causal"):
            module.is_causal = False


@pytest.mark.parametrize("tied", [False, True], ids=["untied", "tied"])
@pytest.mark.parametrize("mode", ["difflm-noshift", "difflm-shift", "gpt"])
def test_ten_steps_equal_transformers(tmp_path, training_trace, mode, tied):
    model = make_model(tmp_path / "model", tied)
    trace_file = tmp_path / "trace.safetensors"
    result = subprocess.run(
        [training_trace, "--init-from", tmp_path / "model", "--output", trace_file, "--mask-id", str(MASK),
         "--model-running-mode", mode, "--seq-length", str(LENGTH), "--micro-batch-size", str(ROWS), "--train-iters",
         str(STEPS), *OPTIMIZER], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    trace = load_file(trace_file)

    matrices = [p for p in model.parameters() if p.dim() == 2]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}],
                                  lr=1e-3, betas=(0.9, 0.95), eps=1e-8)
    if mode != "gpt":
        bidirectional(model)
    everything = torch.zeros(ROWS, 1, LENGTH, LENGTH)
    for step in range(STEPS):
        inputs, targets, weights = (trace[f"{kind}.{step}"] for kind in ("inputs", "targets", "weights"))
        logits = model(inputs, attention_mask=None if mode == "gpt" else everything).logits
        losses = torch.nn.functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="none")
        loss = (losses * weights.flatten()).sum()
        assert abs(loss.item() - trace[f"loss.{step}"].item()) < 1e-4, f"step {step}"
        optimizer.zero_grad()
        loss.backward()
        if step == 0:
            for name, parameter in model.named_parameters():
                ours = trace[f"gradient.{name}"]
                error = (ours - parameter.grad).norm() / parameter.grad.norm()
                assert error < 1e-4, f"gradient of {name}: {error:.2e}"
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    for name, parameter in model.named_parameters():
        assert torch.allclose(trace[f"final.{name}"], parameter, atol=2e-4), name
    if mode != "gpt":
        assert any((trace[f"inputs.{step}"] == MASK).any() for step in range(STEPS))
