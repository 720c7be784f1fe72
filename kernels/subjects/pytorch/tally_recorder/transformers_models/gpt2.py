"""GPT-2: learned positions, one product for queries, keys and values, a head tied to the table."""
from . import without

CLASSES = ("GPT2LMHeadModel",)
TURNS = False


def state(model, stated):
    config, inner = model.config, model.transformer
    without(config, add_cross_attention=False, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
    tokens = stated.of_module(inner.wte, None)
    y = stated.add("position_embedding", stated.named(inner.wpe), [tokens], length=config.n_positions)
    for block in inner.h:
        y = add_block(stated, config, block, y)
    stated.of_module(model.lm_head, stated.of_module(inner.ln_f, y))


def add_block(stated, config, block, y):
    prefix = f"{stated.named(block)}_"
    attention, mlp, width = block.attn, block.mlp, config.hidden_size
    fused = stated.of_module(attention.c_attn, stated.of_module(block.ln_1, y))
    parts = [stated.add("slice", f"{prefix}{word}", [fused], begin=i * width, end=(i + 1) * width)
             for i, word in enumerate("qkv")]
    seen = stated.attention(attention, f"{prefix}attention", parts, heads=config.num_attention_heads)
    y = stated.add("add", f"{prefix}attention_sum", [stated.of_module(attention.c_proj, seen), y])
    active = stated.of_module(mlp.act, stated.of_module(mlp.c_fc, stated.of_module(block.ln_2, y)))
    return stated.add("add", f"{prefix}sum", [y, stated.of_module(mlp.c_proj, active)])
