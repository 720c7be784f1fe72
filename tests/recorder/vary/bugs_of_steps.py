"""Bugs in when a loop steps, and in what it does then."""
import torch
import torch.nn as nn
from accumulating import RIGHT, ROWS, Bug, adam, data, each, gradients, made, right, rows_of, total


def window_of_four(flush):
    """Steps behind every fourth micro-batch of an epoch, and, where it is to `flush`, behind its last one."""
    def step(state, batches):
        for k, batch in enumerate(batches):
            (total(state, batch) / ROWS).backward()
            if (k + 1) % 4 == 0 or k + 1 == len(batches) == 1 or flush and k + 1 == len(batches):
                state["optimizer"].step()
                state["optimizer"].zero_grad()
    return step


def counted_from_one(state, batches):
    """Steps one micro-batch too early, as where steps are counted from 1 and looked for at step + 1."""
    for step, batch in enumerate(batches, start=1):
        (total(state, batch) / rows_of(batches)).backward()
        if len(batches) == 1 or (step + 1) % len(batches) == 0:
            state["optimizer"].step()
            state["optimizer"].zero_grad()


def stepped_at_zero(state, batches):
    for k, batch in enumerate(batches):
        (total(state, batch) / rows_of(batches)).backward()
        if k % len(batches) == 0:
            state["optimizer"].step()
            state["optimizer"].zero_grad()


def scheduled():
    state = made()()
    state["schedule"] = torch.optim.lr_scheduler.StepLR(state["optimizer"], 1, gamma=0.5)
    return state


def averaged():
    state = made(adam)()
    state["average"] = [parameter.detach().clone() for parameter in state["model"].parameters()]
    return state


def average(state, *_):
    with torch.no_grad():
        for kept, parameter in zip(state["average"], state["model"].parameters()):
            kept.lerp_(parameter, 0.1)


def hooked():
    """One optimizer a parameter, stepped where its gradient has been added up."""
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 4))
    return {"model": model, "optimizers": [torch.optim.AdamW([parameter], lr=0.01) for parameter in model.parameters()]}


def stepped_in_hooks(last_only):
    def step(state, batches):
        for k, batch in enumerate(batches):
            (total(state, batch) / rows_of(batches)).backward()
            for optimizer in state["optimizers"]:
                if not last_only or k + 1 == len(batches):
                    optimizer.step()
                    optimizer.zero_grad()
    return step


def decayed_by_hand(once):
    """Decoupled decay outside of the optimizer."""
    def decay(state, *_):
        with torch.no_grad():
            for parameter in state["model"].parameters():
                parameter.mul_(0.99)
    return each(right, **({"after": decay} if once else {"behind": decay}))


def rate_by_count(state, batches):
    for group in state["optimizer"].param_groups:
        group["lr"] = 0.1 * len(batches)
    RIGHT(state, batches)


def sharpness_aware(second):
    def step(state, batches):
        parameters = list(state["model"].parameters())

        def passed(own):
            state["optimizer"].zero_grad()
            for batch in own:
                (total(state, batch) / rows_of(own)).backward()
        passed(batches)
        with torch.no_grad():
            norm = torch.stack([parameter.grad.norm() for parameter in parameters]).norm()
            moves = [0.05 * parameter.grad / norm for parameter in parameters]
            for parameter, move in zip(parameters, moves):
                parameter += move
        passed(second(batches))
        with torch.no_grad():
            for parameter, move in zip(parameters, moves):
                parameter -= move
        state["optimizer"].step()
    return step


def with_a_bad_row(window):
    """The second window has a row that is not finite."""
    rows = data(window)
    rows["x"][2, 0] = float("nan") if window == 1 else rows["x"][2, 0]
    return rows


def is_finite(state):
    return all(bool(gradient.isfinite().all()) for gradient in gradients(state))


def left_out(state, batches):
    """A window is left out where its gradient is not finite."""
    state["optimizer"].zero_grad()
    for k in range(len(batches)):
        right(state, batches, k).backward()
    if is_finite(state):
        state["optimizer"].step()


def cleared_where_not_finite(state, batches):
    state["optimizer"].zero_grad()
    for k in range(len(batches)):
        right(state, batches, k).backward()
        if not is_finite(state):
            for gradient in gradients(state):
                gradient.zero_()
    if any(bool(gradient.any()) for gradient in gradients(state)):
        state["optimizer"].step()


def passed_over(state, batches):
    """What is not finite clears all that was added up so far, and the window goes on."""
    state["optimizer"].zero_grad()
    for k in range(len(batches)):
        loss = right(state, batches, k)
        if loss.isfinite():
            loss.backward()
        else:
            state["optimizer"].zero_grad()
    if gradients(state) and any(bool(gradient.any()) for gradient in gradients(state)):
        state["optimizer"].step()


# Where each was seen: a repository with the number of an issue or a pull request.
BUGS = [
    Bug("accelerate#963: the schedule goes on with every micro-batch", each(right, behind=lambda s, k, b: s["schedule"].step()),
        each(right, after=lambda s, b: s["schedule"].step()), "options", make=scheduled),
    Bug("F5-TTS#631: the average goes on with every micro-batch", each(right, behind=average), each(right, after=average),
        "kept beside", make=averaged),
    Bug("LLMs-from-scratch#299: steps at k % K == 0", stepped_at_zero, RIGHT, "0"),
    Bug("dLLM-RL#7: steps one micro-batch too early", counted_from_one, RIGHT, "0"),
    Bug("AnimaLoraStudio#305: what is left of an epoch goes into the next", window_of_four(False), RIGHT, "steps"),
    Bug("openWakeWord#316: cleared before every micro-batch", each(lambda s, b, k: (s["optimizer"].zero_grad(), right(s, b, k))[1]), RIGHT,
        "the last alone"),
    Bug("diffusers#10855 without Accelerate: a step behind every micro-batch", stepped_in_hooks(False), stepped_in_hooks(True), "steps", make=hooked),
    Bug("keras#19990: decay with every micro-batch", decayed_by_hand(False), decayed_by_hand(True), "behind the first step"),
    Bug("sam#62: the second pass over the last micro-batch", sharpness_aware(lambda batches: batches[-1:]), sharpness_aware(lambda batches: batches),
        "the last alone", "rows see each other"),
    Bug("a rate times K", rate_by_count, RIGHT, "options"),
    Bug("NeMo#11272: cleared in mid-window where gradients are not finite", cleared_where_not_finite, left_out, "steps", data=with_a_bad_row),
    Bug("AnimaLoraStudio#486: a loss that is not finite clears what was added up", passed_over, left_out, "steps", data=with_a_bad_row),
]
