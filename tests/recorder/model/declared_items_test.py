#!/usr/bin/env python3
"""What a declared item weighs is held to mask / N: python3 tests/recorder/model/declared_items_test.py

The program is named by the variable TALLY, or found on the PATH."""
import os
import sys
import unittest

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import recorder_path  # noqa: E402, F401
import torch  # noqa: E402
import torch.nn as nn  # noqa: E402

import loops  # noqa: E402
import tally_recorder  # noqa: E402
from tally_recorder import Recorder  # noqa: E402
from verdicts import ERROR, FAIL, PASS, verdict_of, headline  # noqa: E402

BESIDE = "pass, but not judged: the loss beside its factor"
LENGTH = 7


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.head = nn.Embedding(11, 8), nn.Linear(8, 11)

    def forward(self, tokens):
        return self.head(self.words(tokens).cumsum(1))


def rollouts(rows, drawn):
    tokens = torch.randint(0, 11, (rows, LENGTH + 1), generator=drawn)
    lengths = torch.randint(1, LENGTH + 1, (rows,), generator=drawn)
    return tokens, (torch.arange(LENGTH)[None] < lengths[:, None]).float(), torch.randn(rows, generator=drawn)


def policy_gradient(loss, say=lambda recorder, per_token, mask: recorder.items(per_token, mask), sizes=(2, 3, 1), scale=1.0):
    """The recorder of a loop whose loss no case states. `loss(per_token, mask, tokens, share)` is a micro-batch's."""
    torch.manual_seed(1)
    net, drawn = Policy(), torch.Generator().manual_seed(2)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.125)
    scaler = loops.cpu_scaler(init_scale=scale) if scale != 1 else None
    with Recorder(net, optimizer, micro_batches=len(sizes)) as recorder:
        for _ in range(3):
            window = [rollouts(rows, drawn) for rows in sizes]
            tokens = sum(mask.sum() for _, mask, _ in window)
            for words, mask, advantage in window:
                log_probs = torch.log_softmax(net(words[:, :-1]), -1).gather(-1, words[:, 1:, None])[..., 0]
                per_token = -advantage[:, None] * log_probs
                say(recorder, per_token, mask)
                found = loss(per_token, mask, tokens, len(words) / sum(sizes))
                (scaler.scale(found) if scaler else found).backward()
            if scaler:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
            optimizer.zero_grad()
    return recorder


def right(per_token, mask, tokens, _):
    return (per_token * mask).sum() / tokens


class Declared(unittest.TestCase):
    def judged(self, loss, expected, *words, **options):
        code, said = verdict_of(policy_gradient(loss, **options))
        self.assertEqual(code, expected, said)
        for word in words:
            self.assertRegex(headline(said), word)
        return said

    def test_every_item_weighs_the_same(self):
        said = self.judged(right, PASS, BESIDE)
        self.assertRegex(said, rf"\n  items: 77 of 77 items of the term 'the loss' declared at \S*:{say_line()} weigh as declared\n")
        self.judged(right, PASS, BESIDE, scale=1024.0)
        self.judged(lambda per_token, mask, tokens, _: per_token[mask.bool()].sum() * (1 / tokens), PASS, BESIDE)

    def test_mistakes_are_named(self):
        for name, loss, words in (
                ("token-mean-times-samples", lambda each, mask, tokens, share: (each * mask).sum() / mask.sum() * share,
                 r"and weighed by its 2 of 6 samples; divide its sum by the window's 26: loss.sum\(\) / 26"),
                ("mean-of-means", lambda each, mask, tokens, share: (each * mask).sum() / mask.sum() / 3,
                 "divided by its own 8 items and by K = 3; divide its sum by the window's 26"),
                ("own-items", lambda each, mask, tokens, share: (each * mask).sum() / mask.sum(), "by its own 8 items alone"),
                ("sum-not-mean", lambda each, mask, tokens, share: (each * mask).sum(), "nothing divides the sum"),
                ("over-k", lambda each, mask, tokens, share: right(each, mask, tokens, share) / 3, "leave one division out"),
                ("extra-times-k", lambda each, mask, tokens, share: right(each, mask, tokens, share) * 3, "once too often"),
                ("denominator-counts-ignored", lambda each, mask, tokens, share: (each * mask).mean() / 3,
                 "by all of its own 14 positions")):
            with self.subTest(name):
                self.judged(loss, FAIL, "fail: the term 'the loss' declared at ", f"declared_items_test.py:{say_line()}, window 0, "
                            "micro-batch 0: each of its 8 items weighs ", f"looks like {name}, ", words)

    def test_a_scale_is_taken_out(self):
        self.judged(lambda each, mask, tokens, share: (each * mask).sum() / mask.sum() / 3, FAIL, "looks like mean-of-means", scale=1024.0)

    def test_a_script_says_it_to_whoever_records(self):
        for loss, expected in ((right, PASS), (lambda each, mask, tokens, share: (each * mask).sum() / mask.sum() / 3, FAIL)):
            code, said = verdict_of(policy_gradient(loss, say=lambda recorder, each, mask: tally_recorder.items(each, mask)))
            self.assertEqual(code, expected, said)
        tally_recorder.items(torch.ones(2, requires_grad=True))  # nobody does

    def test_what_does_not_count_weighs_nothing(self):
        self.judged(lambda each, mask, tokens, share: each.sum() / tokens, FAIL, "masked items weigh up to", "multiply by the mask")

    def test_sequences_that_weigh_alike_are_their_own_items(self):
        def mean(each, mask, tokens, share):
            return ((each * mask).sum(1) / mask.sum(1)).sum() / 6

        self.judged(mean, FAIL, "its items weigh differently")
        code, said = verdict_of(policy_gradient(mean, say=lambda recorder, each, mask: None))
        self.assertEqual((code, headline(said)), (PASS, "pass, but not judged: the loss and its normalisation"), said)

    def test_a_coefficient_is_declared(self):
        def twice(each, mask, tokens, share):
            return 2 * right(each, mask, tokens, share)

        self.judged(twice, FAIL, "pass weight=2 if this is the coefficient")
        self.judged(twice, PASS, BESIDE, say=lambda recorder, each, mask: recorder.items(each, mask, weight=2))

    def test_without_a_word_the_line_is_proposed(self):
        code, said = verdict_of(policy_gradient(right, say=lambda recorder, each, mask: None))
        self.assertEqual((code, headline(said)), (PASS, "pass, but not judged: the loss and its normalisation"), said)
        self.assertRegex(said, r"to have the loss at \S*declared_items_test.py:\d+ judged, say what counts: tally_recorder.items\(per_item, mask\)")

    def test_a_term_without_a_gradient_is_named(self):
        def say(recorder, each, mask):
            recorder.items(each, mask)
            recorder.items(each.detach(), mask, name="entropy")

        said = self.judged(right, FAIL, "fail: the term 'entropy' declared at ", "has no gradient", say=say)
        self.assertNotIn("'the loss' declared", headline(said))

    def test_a_term_at_which_no_gradient_arrives_is_named(self):
        self.judged(right, FAIL, "fail: the term 'the loss' declared at ", "gets no gradient",
                    say=lambda recorder, each, mask: recorder.items(each * 1.0, mask))

    def test_a_mask_of_another_shape_is_one_line(self):
        code, said = verdict_of(policy_gradient(right, say=lambda recorder, each, mask: recorder.items(each, mask[:, :2])))
        self.assertEqual(code, ERROR, said)
        self.assertRegex(said, r"error: items\('the loss'\) at \S+: found a mask of \[2, 2\] beside \[2, 7\] items, expected one for each")


def say_line():
    """The line of the call in `policy_gradient`'s default."""
    return policy_gradient.__defaults__[0].__code__.co_firstlineno


if __name__ == "__main__":
    unittest.main()
