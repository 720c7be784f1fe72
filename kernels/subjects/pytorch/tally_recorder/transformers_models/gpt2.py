"""GPT-2: learned positions, one product for queries, keys and values, a head tied to the table."""
from . import head_is_tied, refuse, without

CLASSES = ("GPT2LMHeadModel",)
TURNS = False
ACTIVATIONS = {"gelu": {"kind": "gelu", "approximate": "none"}, "relu": {"kind": "relu"}, "silu": {"kind": "silu"},
               "tanh": {"kind": "tanh"}, **{name: {"kind": "gelu", "approximate": "tanh"}
                                            for name in ("gelu_new", "gelu_pytorch_tanh")}}


def state(model, stated):
    config, inner = model.config, model.transformer
    without(config, add_cross_attention=False, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
    if config.attn_pdrop:  # such an attention goes past the interface in which its masks are seen
        without(config, reorder_and_upcast_attn=False)
    if config.activation_function not in ACTIVATIONS:
        refuse("activation_function", config.activation_function, " or ".join(sorted(ACTIVATIONS)))
    tokens = stated.of_module(inner.wte, None)
    head_is_tied(model, config, inner.wte)
    y = stated.add("position_embedding", stated.named(inner.wpe), [tokens], length=config.n_positions)
    y = stated.dropout(inner.drop, y, config.embd_pdrop)
    for block in inner.h:
        y = add_block(stated, config, block, y)
    stated.of_module(model.lm_head, stated.of_module(inner.ln_f, y, eps=config.layer_norm_epsilon))


def add_block(stated, config, block, y):
    prefix = f"{stated.named(block)}_"
    attention, mlp, width, eps = block.attn, block.mlp, config.hidden_size, config.layer_norm_epsilon
    fused = stated.of_module(attention.c_attn, stated.of_module(block.ln_1, y, eps=eps))
    parts = [stated.add("slice", f"{prefix}{word}", [fused], begin=i * width, end=(i + 1) * width)
             for i, word in enumerate("qkv")]
    seen = stated.attention(attention, f"{prefix}attention", parts, heads=config.num_attention_heads,
                            p=stated.rate(config.attn_pdrop))
    seen = stated.dropout(attention.resid_dropout, stated.of_module(attention.c_proj, seen), config.resid_pdrop)
    y = stated.add("add", f"{prefix}attention_sum", [seen, y])
    wide = stated.of_module(mlp.c_fc, stated.of_module(block.ln_2, y, eps=eps))
    active = stated.of_module(mlp.act, wide, **ACTIVATIONS[config.activation_function])
    left = stated.dropout(mlp.dropout, stated.of_module(mlp.c_proj, active), config.resid_pdrop)
    return stated.add("add", f"{prefix}sum", [y, left])
