"""A training script of Transformers, with Trainer's own optimizer and schedule, that knows nothing of the recorder."""
import tempfile

import torch
from transformers import LlamaConfig, LlamaForCausalLM, Trainer, TrainingArguments

torch.manual_seed(1)
model = LlamaForCausalLM(LlamaConfig(vocab_size=16, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
                                     num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=32))
rows = []
for i in range(32):
    tokens = torch.randint(1, 16, (12,))
    labels = tokens.clone()
    labels[4 + (5 * i) % 9:] = -100
    rows.append({"input_ids": tokens, "labels": labels})
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(folder, per_device_train_batch_size=4, gradient_accumulation_steps=4, use_cpu=True,
                                  num_train_epochs=1, report_to=[], save_strategy="no", logging_strategy="no",
                                  weight_decay=0.1, disable_tqdm=True)
    Trainer(model, arguments, train_dataset=rows).train()
