"""Language models of Transformers, built from configurations, whose layers are judged one by one: right, and each with
its famous bug."""
import contextlib

import torch
import torch.nn.functional as F
import transformers.models.gemma.modeling_gemma as gemma_code
import transformers.models.llama.modeling_llama as llama_code
from transformers import (AttentionInterface, AttentionMaskInterface, DataCollatorWithFlattening, GemmaConfig,
                          GemmaForCausalLM, GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM, MistralConfig,
                          MistralForCausalLM, Qwen2Config, Qwen2ForCausalLM)
from transformers.masking_utils import eager_mask

VOCABULARY, IGNORED, K, WINDOWS = 16, -100, 3, 2
SIZES = {"vocab_size": VOCABULARY, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 32, "use_cache": False}


def made(kind, config, options):
    torch.manual_seed(1)
    return kind(config(**{**SIZES, **options}))


def llama(**options):
    return made(LlamaForCausalLM, LlamaConfig, options)


def mistral(**options):
    return made(MistralForCausalLM, MistralConfig, {"sliding_window": 3, **options})


def qwen2(**options):
    return made(Qwen2ForCausalLM, Qwen2Config, options)


def gemma(**options):
    """With weights of the norms that are not 0, as they begin."""
    model = made(GemmaForCausalLM, GemmaConfig, {"head_dim": 4, **options})
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "norm" in name:
                parameter.uniform_(-0.5, 0.5)
    return model


def gpt2(**options):
    torch.manual_seed(1)
    return GPT2LMHeadModel(GPT2Config(**{
        "vocab_size": VOCABULARY, "n_embd": 16, "n_layer": 2, "n_head": 4, "n_positions": 32, "resid_pdrop": 0.0,
        "embd_pdrop": 0.0, "attn_pdrop": 0.0, "use_cache": False, "bos_token_id": 1, "eos_token_id": 2, **options}))


def adapted(**options):
    """A frozen Llama with adapters, one of them with biases beside it."""
    import peft
    return peft.get_peft_model(llama(attention_bias=True), peft.LoraConfig(
        r=2, lora_alpha=6, target_modules=["q_proj", "v_proj", "down_proj"], init_lora_weights=False, **options))


# Batches


def documents(count):
    """Token numbers of unequal length, and labels that leave out the prompt of every second."""
    generator = torch.Generator().manual_seed(3)
    found = []
    for i in range(count):
        tokens = torch.randint(1, VOCABULARY, (3 + (5 * i) % 6,), generator=generator)
        labels = tokens.clone()
        labels[: i % 2 * 2] = IGNORED
        found.append((tokens, labels))
    return found


def padded(side="right"):
    """Micro-batches of two lines each, of which the shorter is padded."""
    batches, lines = [], documents(2 * K * WINDOWS)
    for first, second in zip(lines[::2], lines[1::2]):
        length = max(len(first[0]), len(second[0]))
        batch = {"input_ids": torch.zeros(2, length, dtype=torch.int64),
                 "labels": torch.full((2, length), IGNORED), "attention_mask": torch.zeros(2, length, dtype=torch.int64)}
        for line, (tokens, labels) in enumerate((first, second)):
            place = slice(0, len(tokens)) if side == "right" else slice(length - len(tokens), length)
            batch["input_ids"][line, place], batch["labels"][line, place] = tokens, labels
            batch["attention_mask"][line, place] = 1
            if side == "left":
                batch["labels"][line, place.start] = IGNORED  # a token of padding would be scored by it
        batches.append(batch)
    return batches


def packed():
    """The same, one document behind the other in one line, told apart by their positions."""
    lines = documents(2 * K * WINDOWS)
    collate = DataCollatorWithFlattening()
    return [dict(collate([{"input_ids": tokens.tolist(), "labels": labels.tolist()} for tokens, labels in pair]))
            for pair in zip(lines[::2], lines[1::2])]


def packed_by_trl(strategy):
    """The same by TRL: whole documents in a line, best fit first, or one long text that is cut into lines."""
    from datasets import Dataset, disable_progress_bars
    from trl import pack_dataset
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling
    disable_progress_bars()
    lines = Dataset.from_list([{"input_ids": tokens.tolist(), "labels": tokens.tolist()}
                               for tokens, _ in documents(6 * K * WINDOWS)])
    lines = pack_dataset(lines, seq_length=14, strategy=strategy)
    collate = DataCollatorForLanguageModeling(pad_token_id=0, padding_free=strategy == "bfd")
    return [dict(collate([lines[i], lines[i + 1]])) for i in range(0, 2 * K * WINDOWS, 2)]


def scored(batch, before_the_shift=False):
    labels = batch["labels"]
    return (labels if before_the_shift else labels[:, 1:]).ne(IGNORED).sum()


def train(record, model, batches, counted=scored, each=lambda model: None, means=False):
    """Two windows of three micro-batches, each divided by the tokens of its window."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=0.01)
    with record(model, optimizer, K) as recorder:
        for first in range(0, len(batches), K):
            window = batches[first:first + K]
            items = sum(counted(batch) for batch in window)
            for batch in window:
                if means:
                    (model(**batch).loss / K).backward()
                else:
                    model(**batch, num_items_in_batch=items).loss.backward()
                each(model)
            optimizer.step()
            optimizer.zero_grad()
    return recorder


def train_by_hand(record, model, batches, cut):
    """The same with a loss of one's own: over all tokens, or over all but each line's last."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with record(model, optimizer, K) as recorder:
        for first in range(0, len(batches), K):
            window = batches[first:first + K]
            items = sum(scored(batch) for batch in window)
            for batch in window:
                logits = model(input_ids=batch["input_ids"], attention_mask=batch["attention_mask"]).logits
                next_labels = batch["labels"][:, 1:]
                if cut:
                    logits = logits[:, :-1]
                else:
                    next_labels = F.pad(next_labels, (0, 1), value=IGNORED)
                loss = F.cross_entropy(logits.reshape(-1, VOCABULARY), next_labels.reshape(-1), reduction="sum")
                (loss / items).backward()
            optimizer.step()
            optimizer.zero_grad()
    return recorder


# Bugs: what stands in the place of a part


def normed_without_offset(norm, x):
    """What Llama's norm makes of Gemma's weight."""
    return norm._norm(x) * norm.weight


def attends(change):
    """The attention of a model, computed in the open, after `change` of what it is called with."""
    def attention(module, query, key, value, mask, scaling=None, **_):
        called = {"key": key.repeat_interleave(module.num_key_value_groups, 1),
                  "value": value.repeat_interleave(module.num_key_value_groups, 1), "mask": mask, "scaling": scaling}
        called.update(change(module, query, key, value, mask))
        scores = query @ called["key"].transpose(2, 3) * called["scaling"]
        length = query.shape[2]
        causal = torch.ones(length, length).tril() == 0
        scores = scores + (called["mask"] if called["mask"] is not None else torch.zeros(()).masked_fill(causal, -1e30))
        return (scores.softmax(-1) @ called["value"]).transpose(1, 2).contiguous(), None

    name = f"by_{change.__name__}"
    AttentionInterface.register(name, attention)
    AttentionMaskInterface.register(name, eager_mask)
    return name


def as_it_should(*_):
    return {}


def unscaled(*_):
    return {"scaling": 1.0}


def scaled_by_width(module, *_):
    return {"scaling": module.config.hidden_size ** -0.5}


def tiled(module, _, key, value, __):
    groups = module.num_key_value_groups
    return {"key": key.repeat(1, groups, 1, 1), "value": value.repeat(1, groups, 1, 1)}


def crossing(_, query, *__):
    length = query.shape[2]
    return {"mask": torch.zeros(length, length).masked_fill(torch.ones(length, length).tril() == 0, -1e30)}


def looking_ahead(_, query, __, ___, mask):
    length = query.shape[2]
    return {"mask": mask.masked_fill(torch.ones(length, length).tril(1).bool() & (mask < 0), 0)}


@contextlib.contextmanager
def replaced(owner, name, other):
    kept = getattr(owner, name)
    setattr(owner, name, other)
    try:
        yield
    finally:
        setattr(owner, name, kept)


def turn_neighbours(q, k, cos, sin, unsqueeze_dim=1):
    """Turns neighbours, where halves are turned."""
    def twice(table):
        return table[..., : table.shape[-1] // 2].repeat_interleave(2, -1).unsqueeze(unsqueeze_dim)

    def turned(x):
        return x * twice(cos) + torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2) * twice(sin)
    return turned(q), turned(k)


def positions_run_on(model):
    """Positions count the tokens of a line, whatever stands there."""
    rotary = model.model.rotary_emb
    right = rotary.forward
    return replaced(rotary, "forward", lambda x, position_ids: right(x, torch.arange(x.shape[1])[None]))


def no_gradient_of_look_ups(model):
    return model.model.embed_tokens.register_forward_hook(lambda _, __, y: y.detach().requires_grad_())
