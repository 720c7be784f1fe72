"""Each loop with what Tally says of it: the exit code and the cause on top, for rows that fill every micro-batch and
window, for a short last micro-batch and for a short last window."""
import data

PASS, FAIL, ERROR = 0, 1, 2
ROWS = (data.WHOLE, data.SHORT_BATCH, data.SHORT_WINDOW)
RIGHT = (PASS, "")
MEANS, CONFIGURED = (FAIL, "mean-of-means"), (FAIL, "last-window-wrong-divisor")
ALWAYS_RIGHT, LAST_BATCH = (RIGHT, RIGHT, RIGHT), (RIGHT, MEANS, RIGHT)
TAILS = (RIGHT, MEANS, CONFIGURED)  # what Accelerate and Lightning are known to do, as they are shipped


def loops():
    """Name, loop, and what is said for each of ROWS; None where the bug is another one there, or two at once."""
    import accelerate_loops as accelerate
    import lightning_loops as lightning
    import plain_loops as plain
    import trainer_loops as trainer
    return [
        ("PyTorch, mean of micro-batches", plain.mean_of_micro_batches, LAST_BATCH),
        ("PyTorch, weighted by items", plain.items_weighted, ALWAYS_RIGHT),
        ("PyTorch, Llama, mean of micro-batches", plain.language_model, (MEANS, MEANS, MEANS)),
        ("PyTorch, Llama, weighted by tokens", plain.language_model_weighted, ALWAYS_RIGHT),
        ("GradScaler, clip after `unscale_`", plain.scaled, LAST_BATCH),
        ("GradScaler, clip before `unscale_`", plain.scaled_clip_first, ((FAIL, "clip-before-unscale"), None, None)),
        ("Accelerate, `accumulate`", accelerate.accumulate, TAILS),
        ("Accelerate, clip where gradients sync", accelerate.clipped, TAILS),
        ("Accelerate, clip after every micro-batch", accelerate.clipped_each,
         ((FAIL, "clip-per-microbatch"), None, None)),
        ("Accelerate, loss divided by the loop too", accelerate.divided_twice, ((FAIL, "over-k"), None, None)),
        ("Lightning, `accumulate_grad_batches`", lightning.accumulated, TAILS),
        ("Lightning, `gradient_clip_val`", lightning.clipped, TAILS),
        ("Lightning, clip in `on_after_backward`", lightning.clipped_each, ((FAIL, "clip-per-microbatch"), None, None)),
        ("Lightning, by hand, not divided", lightning.by_hand, ((FAIL, "own-items"), (FAIL, "own-items"), None)),
        ("Trainer, the model's own loss", trainer.own_loss, LAST_BATCH),
        ("Trainer, `num_items_in_batch`", trainer.counted_items, ALWAYS_RIGHT),
        ("Trainer, Llama as shipped", trainer.language_model, ALWAYS_RIGHT),
        ("Trainer, a model that ignores `num_items_in_batch`", trainer.ignored_items, ((FAIL, "own-items"),) * 3),
    ]
