"""TRL's SFTTrainer, whose loss makes no logits: the head and the loss are one function over chunks of tokens."""
import tempfile
import warnings

import trl.trainer.utils as trl_code
from datasets import Dataset, disable_progress_bars
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast, PrinterCallback
from transformers.utils import logging
from trl import SFTConfig, SFTTrainer
from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

import language_models as models

LINES = 2


def tokenizer():
    words = {str(i): i for i in range(models.VOCABULARY)}
    return PreTrainedTokenizerFast(tokenizer_object=Tokenizer(WordLevel(words, unk_token="0")), pad_token="0",
                                   eos_token="2")


def train(record, model, padding_free=False, **options):
    """Two windows of three micro-batches of two documents each, padded or one behind the other."""
    warnings.simplefilter("ignore")
    logging.set_verbosity_error()
    disable_progress_bars()
    rows = [{"input_ids": tokens.tolist(), "labels": labels.tolist()}
            for tokens, labels in models.documents(LINES * models.K * models.WINDOWS)]
    with tempfile.TemporaryDirectory() as folder:
        arguments = SFTConfig(output_dir=folder, per_device_train_batch_size=LINES, max_steps=models.WINDOWS,
                              gradient_accumulation_steps=models.K, learning_rate=0.01, lr_scheduler_type="constant",
                              max_grad_norm=0.0, use_cpu=True, bf16=False, gradient_checkpointing=False, report_to=[],
                              save_strategy="no", logging_strategy="no", disable_tqdm=True,
                              remove_unused_columns=False, dataset_kwargs={"skip_prepare_dataset": True}, **options)
        trainer = SFTTrainer(model=model, args=arguments, train_dataset=Dataset.from_list(rows),
                             processing_class=tokenizer(),
                             data_collator=DataCollatorForLanguageModeling(pad_token_id=0, padding_free=padding_free))
        trainer.remove_callback(PrinterCallback)
        trainer.create_optimizer()
        with record(trainer.model, trainer.optimizer, models.K) as recorder:
            trainer.train()
    return recorder


def off_by_a_hundredth(of):
    """The fused function's gradient of the hidden states (0) or of the weight (1) is a hundredth too large."""
    function = trl_code._ChunkedLogProbFunction
    right = function.backward

    def backward(context, *gradients):
        found = list(right(context, *gradients))
        found[of] = found[of] * 1.01
        return tuple(found)
    return models.replaced(function, "backward", staticmethod(backward))
