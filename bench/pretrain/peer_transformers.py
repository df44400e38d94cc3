"""One masked-diffusion training step in PyTorch + transformers, timed: peer_transformers.py CASE eager|compiled STEPS.

Qwen3 classes without causality, bf16 autocast, fused AdamW, scaled-dot-product attention, loss weighted by the
exact masked fraction. Prints one JSON line.
"""
import json
import resource
import statistics
import sys
import time

import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

from cases import CASES

case, mode, steps = CASES[sys.argv[1]], sys.argv[2], int(sys.argv[3])
rows, length, vocabulary = case["batch"], case["seq_length"], case["vocab_size"]
torch.manual_seed(0)
model = Qwen3ForCausalLM(Qwen3Config(
    vocab_size=vocabulary, hidden_size=case["hidden_size"], num_hidden_layers=case["num_layers"],
    num_attention_heads=case["num_attention_heads"], num_key_value_heads=case["num_query_groups"], head_dim=case["kv_channels"],
    intermediate_size=case["ffn_hidden_size"], max_position_embeddings=length, tie_word_embeddings=False,
    attn_implementation="sdpa", use_cache=False))
for module in model.modules():
    if hasattr(module, "is_causal"):
        module.is_causal = False
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4, betas=(0.9, 0.95), weight_decay=0.1, fused=True)
mask_token = vocabulary - 1
everything = torch.zeros(rows, 1, 1, 1, dtype=torch.bfloat16).expand(rows, 1, length, length)


def loss_and_gradients(tokens, masked):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(torch.where(masked, mask_token, tokens), attention_mask=everything).logits
    losses = torch.nn.functional.cross_entropy(logits.float().view(-1, vocabulary), tokens.view(-1), reduction="none")
    fraction = masked.float().mean(1, keepdim=True).clamp_min(1 / length)
    loss = (losses.view(rows, length) * masked / fraction).sum() / tokens.numel()
    loss.backward()
    return loss


if mode == "compiled":
    loss_and_gradients = torch.compile(loss_and_gradients)
times = []
for step in range(steps + 2):
    tokens = torch.randint(0, vocabulary - 2, (rows, length))
    masked = torch.rand(rows, length) < torch.rand(rows, 1)
    start = time.perf_counter()
    loss_and_gradients(tokens, masked)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    if step >= 2:
        times.append(time.perf_counter() - start)
print(json.dumps({"seconds_per_step": statistics.median(times), "tokens_per_second": rows * length / statistics.median(times),
                  "peak_memory_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
