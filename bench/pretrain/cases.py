"""The models that training speed is measured on, and the FLOPs that both sides are credited with."""

CASES = {
    "a": dict(hidden_size=512, num_layers=8, num_attention_heads=8, num_query_groups=8, kv_channels=64, ffn_hidden_size=1536,
              vocab_size=50304, seq_length=512, batch=8),
    "b": dict(hidden_size=576, num_layers=30, num_attention_heads=9, num_query_groups=3, kv_channels=64, ffn_hidden_size=1536,
              vocab_size=49152, seq_length=512, batch=4),
    "c": dict(hidden_size=1024, num_layers=4, num_attention_heads=16, num_query_groups=16, kv_channels=64, ffn_hidden_size=3072,
              vocab_size=50304, seq_length=1024, batch=4),
}


def step_flops(case):
    """6 per weight and token, the head counted on every position, and 12 s^2 h per layer and row for attention."""
    h, heads, groups, d = case["hidden_size"], case["num_attention_heads"], case["num_query_groups"], case["kv_channels"]
    layer = h * (heads + 2 * groups) * d + heads * d * h + 3 * h * case["ffn_hidden_size"]
    tokens = case["batch"] * case["seq_length"]
    weights = case["num_layers"] * layer + case["vocab_size"] * h
    return 6 * weights * tokens + 12 * case["num_layers"] * case["batch"] * case["seq_length"] ** 2 * heads * d


def head_share(case, flops_per_token):
    """The share of positions that the output layer ran on, from the FLOPs that a token took."""
    head = 6 * case["vocab_size"] * case["hidden_size"]
    return 1 - (step_flops(case) / (case["batch"] * case["seq_length"]) - flops_per_token) / head
