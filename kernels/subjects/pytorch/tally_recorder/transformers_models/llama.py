"""Llama, and what has its layers: rotary positions, grouped heads, a gated product; norms before each."""
from . import head_is_tied, refuse, without

CLASSES = ("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM")
TURNS = True  # positions turn features: their differences count


def state(model, stated):
    config, inner = model.config, model.model
    without(config, pretraining_tp=1, hidden_act="silu")
    base = rotary_base(config)
    y = stated.of_module(inner.embed_tokens, None)
    head_is_tied(model, config, inner.embed_tokens)
    for layer in inner.layers:
        y = add_layer(stated, config, layer, y, base)
    stated.of_module(model.lm_head, stated.of_module(inner.norm, y, eps=config.rms_norm_eps))


def rotary_base(config):
    rope = config.rope_parameters
    if rope.get("rope_type", "default") != "default" or rope.get("partial_rotary_factor", 1) != 1:
        refuse("rope_parameters", rope, "the type default over whole heads")
    return rope["rope_theta"]


def window_of(config, attention):
    """How many rows a row sees; 0: all before it."""
    return getattr(attention, "sliding_window", None) or (
        config.sliding_window if type(attention).__name__ == "MistralAttention" and config.sliding_window else 0)


def add_layer(stated, config, layer, y, base, **gates):
    prefix = f"{stated.named(layer)}_"
    attention, mlp = layer.self_attn, layer.mlp
    heads, groups = config.num_attention_heads, config.num_key_value_heads
    normed = stated.of_module(layer.input_layernorm, y, eps=config.rms_norm_eps)
    q, k, v = (stated.of_module(each, normed) for each in (attention.q_proj, attention.k_proj, attention.v_proj))
    q = stated.add("rotary", f"{prefix}rotary_q", [q], heads=heads, base=base)
    k = stated.add("rotary", f"{prefix}rotary_k", [k], heads=groups, base=base)
    seen = stated.attention(attention, f"{prefix}attention", [q, k, v], heads=heads, kv_heads=groups,
                            window=window_of(config, attention), p=config.attention_dropout)
    y = stated.add("add", f"{prefix}attention_sum", [y, stated.of_module(attention.o_proj, seen)])
    normed = stated.of_module(layer.post_attention_layernorm, y, eps=config.rms_norm_eps)
    gate, up = (stated.of_module(each, normed) for each in (mlp.gate_proj, mlp.up_proj))
    product = stated.add("gated", f"{prefix}gated", [gate, up], **gates)
    return stated.add("add", f"{prefix}sum", [y, stated.of_module(mlp.down_proj, product)])
