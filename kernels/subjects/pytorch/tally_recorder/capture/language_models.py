"""Language models of Transformers: which tokens are rows of a case, which layers each family has, and losses that make no logits."""
import collections

import torch

from ..user_code import CaptureError
from .activations import CONFIGURED
from .layers import StatedLayers
from .losses import DEFAULTS

IGNORED = -100  # what Transformers ignores
COLLATOR = "use a collator that restarts them with each document, as DataCollatorWithFlattening does"
VERSIONS = ("5.",)  # whose modules and attention interface the families below describe
GEMMA_GATES = {"gelu": "gelu", "gelu_new": "gelu_tanh", "gelu_pytorch_tanh": "gelu_tanh", "silu": "silu"}
# The classes of a family, whether its positions turn features, so that their differences count, and what states its layers one by
# one, in the order in which they run.
Family = collections.namedtuple("Family", "classes turns state")


class TokenRows:
    """`kept` says of each token of the batch whether it is a row, None: all are; `lengths` of each sequence how many
    rows it has; `labels` are the rows' own, where the model was given them; `positions` theirs, where they are stated."""

    scored_by_padding = 0  # labels that a token of padding is scored by

    def __init__(self, kept=None, lengths=None, labels=None, positions=None):
        self.kept, self.lengths, self.labels, self.positions = kept, lengths, labels, positions

    def of(self, value):
        """The rows of a tensor [batch, tokens, features]."""
        return self.of_flat(value.detach().reshape(-1, value.shape[-1]))

    def of_flat(self, value):
        """The rows of a tensor that has one entry a token, in the order of the batch."""
        return value if self.kept is None or value.shape[0] != self.kept.shape[0] else value[self.kept]


ALL_ROWS = TokenRows()


def refuse_argument(name, found, expected, instead):
    raise CaptureError(f"the model's {name}: found {found}, expected {expected}; {instead}")


def rows_of_batch(tokens, given, turns):
    """`tokens` are input_ids [batch, tokens], `given` what else the model was called with. `turns` says that positions
    turn features, so that it counts how far apart two are: those of padded lines are stated as the model counts them."""
    for name in ("inputs_embeds", "token_type_ids", "cache", "past_key_values", "encoder_hidden_states"):
        if given.get(name) is not None:
            refuse_argument(name, "some", "none", "record the model as opaque")
    if tokens is None or tokens.dim() != 2:
        refuse_argument("input_ids", "none" if tokens is None else f"a shape of {list(tokens.shape)}", "[batch, tokens]",
                        "record the model as opaque")
    kept = kept_of(given.get("attention_mask"), tokens)
    starts = starts_of(given, kept)
    flat = None if bool(kept.all()) else kept.reshape(-1)
    rows = TokenRows(flat, lengths_between(starts[kept]))
    if turns and given.get("position_ids") is None and flat is not None:
        places = torch.arange(tokens.shape[1], device=tokens.device).expand_as(tokens)
        rows.positions = rows.of_flat(places.reshape(-1))
    if given.get("labels") is not None and given.get("shift_labels") is None:
        labels = given["labels"].detach()
        rows.labels = rows.of_flat(labels.reshape(-1))
        rows.scored_by_padding = int((~kept[:, :-1] & (labels[:, 1:] != IGNORED)).sum())
    return rows


def kept_of(mask, tokens):
    """Which tokens are no padding."""
    if mask is None:
        return torch.ones_like(tokens, dtype=torch.bool)
    if mask.shape != tokens.shape:
        refuse_argument("attention_mask", f"a shape of {list(mask.shape)}", f"{list(tokens.shape)}, 1 where a token is no "
                        "padding", "give it as the tokenizer or collator does, or record the model as opaque")
    return mask.bool()


def starts_of(given, kept):
    """Where sequences begin: with each line of the batch, and where it says that another document does."""
    starts = kept & (kept.long().cumsum(1) == 1)
    bounds = given.get("cu_seq_lens_q")
    if bounds is not None:
        starts.view(-1)[bounds[:-1].long().to(starts.device)] = True
    if given.get("seq_idx") is not None:
        documents = given["seq_idx"]
        starts[:, 1:] |= kept[:, 1:] & (documents[:, 1:] != documents[:, :-1])
    if given.get("position_ids") is None:
        return starts
    positions = given["position_ids"].expand_as(kept)
    begins = kept.clone()
    begins[:, 1:] &= ~kept[:, :-1] | (positions[:, 1:] != positions[:, :-1] + 1)
    if bool((positions[begins | starts] != 0).any()):
        line, column = ((begins | starts) & (positions != 0)).nonzero()[0].tolist()
        refuse_argument("position_ids", f"{int(positions[line, column])} where a sequence starts (line {line}, token {column})",
                        "0 there, and one more for each later token", COLLATOR)
    return starts | begins


def lengths_between(starts):
    places = starts.nonzero().reshape(-1).tolist() + [starts.shape[0]]
    return [after - before for before, after in zip(places, places[1:])]


class FusedLoss:
    """What is kept of one such loss: no logits, but each row's loss and what it is multiplied with."""
    kind, y, d_y, unknown, averaged, fused = "cross_entropy", None, None, None, False, True
    lines = None  # those of an opaque model's tokens
    options = {**DEFAULTS, "reduction": "sum"}

    def __init__(self, output, token_rows, x, scratch):
        self.node, self.x, self.factor = output.log_probs.grad_fn, x, None
        self.lengths, self.result = token_rows.lengths, output.log_probs.detach()
        self.scored = output.label_mask.detach()
        self.labels = self.target = scratch.put(token_rows.labels)
        self.positions = None if token_rows.positions is None else scratch.put(token_rows.positions)
        self.rows = token_rows.labels.shape[0]
        losses = torch.nn.functional.pad(-self.result.float(), (0, 1)).reshape(-1)  # a line's last token scores nothing
        self.losses = scratch.put(token_rows.of_flat(losses))

    def is_kept(self):
        return True

    def arrives(self, gradient):
        """The gradient of the sum of log-probabilities, of the tokens that are scored."""
        self.factor = -gradient.detach()[self.scored].clone()
        if self.factor.numel() == 0:
            self.factor = None


def makes_no_logits(output, token_rows):
    """Whether a model left such a loss's parts, with a gradient, of labels that it was given."""
    parts = [getattr(output, name, None) for name in ("log_probs", "label_mask")]
    return all(isinstance(part, torch.Tensor) for part in parts) and parts[0].requires_grad and \
        getattr(output, "logits", None) is None and token_rows.labels is not None


def family_of(model):
    """The one of FAMILIES that states this model's layers; None where the model is none of Transformers'."""
    kinds = [kind for kind in type(base_of(model)).__mro__ if kind.__module__.startswith("transformers.models.")]
    if not kinds:
        return None
    for family in FAMILIES:
        if any(kind.__name__ in family.classes for kind in kinds):
            return family
    stated = ", ".join(sorted(name for family in FAMILIES for name in family.classes))
    raise CaptureError(f"model: found {kinds[0].__name__} of Transformers, expected one of {stated}; record it as opaque")


def base_of(model):
    """The model itself, without what PEFT puts around it."""
    return model.get_base_model() if type(model).__module__.startswith("peft.") else model


def layers_of(model, family, layer_of):
    """Raises where another version of Transformers has other modules, or an option of the model is stated by no
    layer."""
    import transformers
    if not transformers.__version__.startswith(VERSIONS):
        raise CaptureError(f"transformers: found version {transformers.__version__}, expected {VERSIONS[0]}x, whose "
                           "modules are known; record the model as opaque")
    stated = StatedLayers(model, layer_of)
    family.state(base_of(model), stated)
    return stated


def refuse_option(option, found, expected):
    raise CaptureError(f"model.config.{option}: found {found!r}, expected {expected}; record the model as opaque")


def require_options(config, **expected):
    """Refuses an option whose value is another than the one that these layers state."""
    for name, value in expected.items():
        found = getattr(config, name, value)
        if found != value:
            refuse_option(name, found, value)


def head_is_tied(model, config, table):
    """Refuses a head that is tied, or is not, where the configuration says otherwise."""
    found = model.lm_head.weight is table.weight
    if found != bool(config.tie_word_embeddings):
        refuse_option("tie_word_embeddings", config.tie_word_embeddings,
                      f"{found}, as lm_head.weight {'is' if found else 'is not'} the embedding's")


def llama_layers(model, stated):
    """Rotary positions, grouped heads, a gated product; norms before each."""
    config, inner = model.config, model.model
    require_options(config, pretraining_tp=1, hidden_act="silu")
    base = rotary_base(config)
    y = stated.of_module(inner.embed_tokens, None)
    head_is_tied(model, config, inner.embed_tokens)
    for layer in inner.layers:
        y = add_llama_layer(stated, config, layer, y, base)
    stated.of_module(model.lm_head, stated.of_module(inner.norm, y, eps=config.rms_norm_eps))


def rotary_base(config):
    rope = config.rope_parameters
    if rope.get("rope_type", "default") != "default" or rope.get("partial_rotary_factor", 1) != 1:
        refuse_option("rope_parameters", rope, "the type default over whole heads")
    return rope["rope_theta"]


def window_of(config, attention):
    """How many rows a row sees; 0: all before it."""
    return getattr(attention, "sliding_window", None) or (
        config.sliding_window if type(attention).__name__ == "MistralAttention" and config.sliding_window else 0)


def add_llama_layer(stated, config, layer, y, base, **gates):
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


def gemma_layers(model, stated):
    """Llama's layers, whose looked-up rows are scaled by the root of the width, norms by one plus their weight, gates by GELU; the
    head tied to the table."""
    config, inner = model.config, model.model
    if config.hidden_act not in GEMMA_GATES:
        refuse_option("hidden_act", config.hidden_act, " or ".join(sorted(GEMMA_GATES)))
    base = rotary_base(config)
    y = stated.scaled_table(inner.embed_tokens, gemma_factor(config, inner.embed_tokens.weight))
    head_is_tied(model, config, inner.embed_tokens)
    for layer in inner.layers:
        y = add_llama_layer(stated, config, layer, y, base, activation=GEMMA_GATES[config.hidden_act])
    stated.of_module(model.lm_head, stated.of_module(inner.norm, y, eps=config.rms_norm_eps))


def gemma_factor(config, weight):
    """The root of the width, rounded as the table's numbers are."""
    return torch.tensor(config.hidden_size ** 0.5).to(weight.dtype).item()


def gpt2_layers(model, stated):
    """Learned positions, one product for queries, keys and values; the head tied to the table."""
    config, inner = model.config, model.transformer
    require_options(config, add_cross_attention=False, scale_attn_weights=True, scale_attn_by_inverse_layer_idx=False)
    if config.attn_pdrop:  # such an attention goes past the interface in which its masks are seen
        require_options(config, reorder_and_upcast_attn=False)
    if config.activation_function not in CONFIGURED:
        refuse_option("activation_function", config.activation_function, " or ".join(sorted(CONFIGURED)))
    tokens = stated.of_module(inner.wte, None)
    head_is_tied(model, config, inner.wte)
    y = stated.add("position_embedding", stated.named(inner.wpe), [tokens], length=config.n_positions)
    y = stated.dropout(inner.drop, y, config.embd_pdrop)
    for block in inner.h:
        y = add_gpt2_block(stated, config, block, y)
    stated.of_module(model.lm_head, stated.of_module(inner.ln_f, y, eps=config.layer_norm_epsilon))


def add_gpt2_block(stated, config, block, y):
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
    active = stated.of_module(mlp.act, wide, **CONFIGURED[config.activation_function])
    left = stated.dropout(mlp.dropout, stated.of_module(mlp.c_proj, active), config.resid_pdrop)
    return stated.add("add", f"{prefix}sum", [y, left])


FAMILIES = (Family(("LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM"), True, llama_layers),
            Family(("GemmaForCausalLM",), True, gemma_layers), Family(("GPT2LMHeadModel",), False, gpt2_layers))
