"""Learns the quickstart's text in PyTorch + transformers: same model, batch, data, schedule and time.

    peer_transformers.py JOB_JSON TRAIN_PREFIX VALID_PREFIX dlm|ar SECONDS

Prints one JSON line with the held-out cost in nats per token, by the estimator of `megadlm evaluate`.
"""
import json
import math
import resource
import sys
import time

import numpy
import torch
from transformers import Qwen3Config, Qwen3ForCausalLM

job, train_prefix, valid_prefix, objective, seconds = json.loads(sys.argv[1]), *sys.argv[2:5], float(sys.argv[5])
vocabulary, length, rows, mask_token = job["padded_vocab_size"], job["seq_length"], job["rows"], job["mask_token"]
tokens = torch.from_numpy(numpy.fromfile(train_prefix + ".bin", dtype=numpy.uint16).astype(numpy.int64))
valid = torch.from_numpy(numpy.fromfile(valid_prefix + ".bin", dtype=numpy.uint16).astype(numpy.int64))
torch.manual_seed(0)
model = Qwen3ForCausalLM(Qwen3Config(
    vocab_size=vocabulary, hidden_size=job["hidden_size"], num_hidden_layers=job["num_layers"],
    num_attention_heads=job["num_attention_heads"], num_key_value_heads=job["num_query_groups"], head_dim=job["kv_channels"],
    intermediate_size=job["ffn_hidden_size"], max_position_embeddings=length, rms_norm_eps=job["norm_epsilon"],
    tie_word_embeddings=not job["untie_embeddings_and_output_weights"], attn_implementation="sdpa", use_cache=False))
diffusion = objective == "dlm"
if diffusion:
    for module in model.modules():
        if hasattr(module, "is_causal"):
            module.is_causal = False
matrices, vectors = ([p for p in model.parameters() if p.dim() == dim] for dim in (2, 1))
optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": job["weight_decay"]}, {"params": vectors, "weight_decay": 0}],
                              lr=job["lr"], betas=(job["adam_beta1"], job["adam_beta2"]), fused=True)


def cost(inputs, targets, weights):
    attend = torch.zeros(inputs.size(0), 1, inputs.size(1), inputs.size(1), dtype=torch.bfloat16) if diffusion else None
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits = model(inputs, attention_mask=attend).logits
    losses = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none")
    return (losses.view(targets.shape) * weights).sum()


start, steps = time.time(), 0
while (elapsed := time.time() - start) < seconds:
    rate = job["min_lr"] + (job["lr"] - job["min_lr"]) * max(0.0, 1 - elapsed / seconds)
    for group in optimizer.param_groups:
        group["lr"] = min(rate, job["lr"] * steps / job["lr_warmup_iters"]) if steps < job["lr_warmup_iters"] else rate
    begin = torch.randint(0, len(tokens) - length - 1, (rows,))
    batch = torch.stack([tokens[i:i + length + 1] for i in begin])
    if diffusion:
        batch = batch[:, :-1]
        masked = torch.rand(batch.shape) < torch.rand(rows, 1) * (1 - 1e-3) + 1e-3
        masked[~masked.any(1), 0] = True
        weights = masked * length / masked.sum(1, keepdim=True)
        loss = cost(torch.where(masked, mask_token, batch), batch, weights) / batch.numel()
    else:
        loss = cost(batch[:, :-1], batch[:, 1:], torch.ones(rows, length)) / (rows * length)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), job["clip_grad"])
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    steps += 1

memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
model.eval()
total, count, generator = 0.0, 0, torch.Generator().manual_seed(1)
with torch.no_grad():
    if diffusion:
        whole = valid[:len(valid) // length * length].view(-1, length)
        for draw in range(job["num_draws"]):
            for batch in whole.split(64):
                u = 1 - ((torch.rand(len(batch), 1, generator=generator) + draw / job["num_draws"]) % 1)
                counts = torch.ceil(u * length).clamp(1, length)
                masked = torch.rand(batch.shape, generator=generator).argsort(1).argsort(1) < counts
                total += cost(torch.where(masked, mask_token, batch), batch, masked * length / counts).item()
                count += batch.numel()
    else:
        whole = valid[:(len(valid) - 1) // length * length + 1].unfold(0, length + 1, length)
        for batch in whole.split(64):
            total += cost(batch[:, :-1], batch[:, 1:], torch.ones(len(batch), length)).item()
            count += batch.size(0) * length
print(json.dumps({"nats_per_token": total / count, "bits_per_token": total / count / math.log(2), "steps": steps,
                  "tokens": steps * rows * length, "tokens_per_second": steps * rows * length / seconds,
                  "peak_memory_bytes": memory}))
