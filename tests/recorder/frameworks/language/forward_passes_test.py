"""Which forward pass of a language model a backward pass belongs to, where several have run; and noise that no case
states."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

import recorder_path  # noqa: E402, F401
import dropout_of_language_models as drops  # noqa: E402
import language_models as models  # noqa: E402
import torch  # noqa: E402
from judged import recorded_by, verdict  # noqa: E402

PASS, ERROR = 0, 2


def looks_on(model, batch):
    """A loss with a graph, of which nothing is made but a number."""
    return model(**batch).loss.exp().item()


def looks_on_in_eval(model, batch):
    model.eval()
    looks_on(model, batch)
    model.train()


def never(model, batch):
    pass


def judged(model, look=never, forwards_first=False):
    batches = models.padded()
    items = sum(batch["labels"][:, 1:].ne(-100).sum() for batch in batches)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    with recorded_by("all", layers="known", normalisation="window_items")(model, optimizer, len(batches)) as recorder:
        losses = []
        for batch, other in zip(batches, reversed(batches)):
            losses.append(model(**batch, num_items_in_batch=items).loss)
            look(model, other)
            if not forwards_first:
                losses.pop().backward()
        for loss in losses:
            loss.backward()
        optimizer.step()
    return verdict(recorder)


class ForwardPasses(unittest.TestCase):
    def test_one_between_a_loss_and_its_backward_pass_changes_nothing(self):
        for model in (drops.gpt2, models.llama):
            for look in (looks_on, looks_on_in_eval):
                with self.subTest(model.__name__, look=look.__name__):
                    code, said = judged(model(), look)
                    self.assertEqual(code, PASS, said)
                    self.assertNotIn("the model is opaque", said)

    def test_all_of_a_window_may_come_first(self):
        for model in (drops.gpt2(), models.llama()):
            code, said = judged(model, forwards_first=True)
            self.assertEqual(code, PASS, said)
        model = drops.checkpointed(drops.gpt2(), use_reentrant=False)
        code, said = judged(model, looks_on, forwards_first=True)
        self.assertEqual(code, PASS, said)
        self.assertNotIn("second forward pass", said)

    def test_a_model_in_eval_is_said_to_drop_nothing(self):
        self.assertIn("assumed: no dropout, as the model is in eval()", judged(drops.gpt2().eval())[1])

    def test_noise_on_looked_up_rows_is_refused(self):
        model = models.llama()
        model.model.embed_tokens.neftune_noise_alpha = 5
        code, said = judged(model)
        self.assertEqual(code, ERROR, said)
        self.assertIn("layer model_embed_tokens: found noise on its rows (neftune_noise_alpha)", said)


if __name__ == "__main__":
    unittest.main()
