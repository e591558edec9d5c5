"""Changes of optimizers, schedules and gradients against edits by hand, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.optim import SGD, Adam, AdamW, Optimizer
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR

from .arms import Tensors, arm, data, mlp, same, weights

Make = Callable[[nn.Module], Optimizer]
Plan = Callable[[Optimizer], Any]
STEPS = 8


def train(
    make: Make,
    plan: Plan | None = None,
    clip: float | None = None,
    clip_value: float | None = None,
    gather: int = 1,
    poison: int = -1,
    skip: int = -1,
    steps: int = STEPS,
) -> Tensors:
    torch.manual_seed(0)
    x, y = data()
    model = mlp()
    optimizer = make(model)
    schedule = plan(optimizer) if plan is not None else None
    for step in range(steps):
        chosen = torch.randint(0, len(x), (16,))
        loss = functional.cross_entropy(model(x[chosen]), y[chosen]) / gather
        if step == poison:
            loss = loss * float("nan")
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        if clip_value is not None:
            nn.utils.clip_grad_value_(model.parameters(), clip_value)
        if (step + 1) % gather == 0:
            if step != skip:
                optimizer.step()
            optimizer.zero_grad()
        if schedule is not None:
            schedule.step()
    return weights(model)


def sgd(**given: Any) -> Make:
    return lambda model: SGD(model.parameters(), **{"lr": 0.1, **given})


def adam(**given: Any) -> Make:
    return lambda model: Adam(model.parameters(), **{"lr": 0.01, **given})


def adamw(**given: Any) -> Make:
    return lambda model: AdamW(model.parameters(), **{"lr": 0.01, **given})


def grouped(decay: float) -> Make:
    return lambda model: AdamW(
        [
            {"params": [one for one in model.parameters() if one.dim() > 1], "weight_decay": decay},
            {"params": [one for one in model.parameters() if one.dim() < 2], "weight_decay": 0.0},
        ],
        lr=0.01,
    )


def warm(optimizer: Optimizer) -> LambdaLR:
    return LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 4))


def halving(optimizer: Optimizer) -> LambdaLR:
    return LambdaLR(optimizer, lambda step: 0.5**step)


def linear(optimizer: Optimizer) -> LambdaLR:
    return LambdaLR(optimizer, lambda step: 1 - step / STEPS)


@pytest.mark.parametrize(
    ("change", "script", "by_hand"),
    [
        ("set_momentum value=0.5", {"make": sgd()}, {"make": sgd(momentum=0.5)}),
        ("set_momentum value=0.5", {"make": adam()}, {"make": adam(betas=(0.5, 0.999))}),
        ("set_betas beta1=0.8 beta2=0.9", {"make": adamw()}, {"make": adamw(betas=(0.8, 0.9))}),
        ("set_eps value=0.1", {"make": adam()}, {"make": adam(eps=0.1)}),
        ("set_weight_decay value=0.3", {"make": sgd()}, {"make": sgd(weight_decay=0.3)}),
        ("set_weight_decay value=0.3", {"make": grouped(0.1)}, {"make": grouped(0.3)}),
        ("swap_optimizer name=adamw lr=0.01", {"make": sgd(momentum=0.9)}, {"make": adamw()}),
        (
            "swap_optimizer name=adam lr=0.01",
            {"make": sgd(weight_decay=0.1)},
            {"make": adam(weight_decay=0.1)},
        ),
        ("swap_optimizer name=sgd lr=0.1", {"make": adam()}, {"make": sgd(momentum=0.9)}),
        (
            "swap_optimizer name=adamw lr=0.01",
            {"make": sgd(), "plan": linear},
            {"make": adamw(), "plan": linear},
        ),
        ("accumulate batches=2", {"make": sgd()}, {"make": sgd(), "gather": 2}),
        ("accumulate batches=4", {"make": adam()}, {"make": adam(), "gather": 4}),
        ("warm_up steps=4", {"make": sgd()}, {"make": sgd(), "plan": warm}),
        ("hold_lr", {"make": sgd(), "plan": halving}, {"make": sgd()}),
        ("replace_schedule kind=constant steps=8", {"make": sgd(), "plan": halving}, {"make": sgd()}),
        ("replace_schedule kind=linear steps=8", {"make": sgd()}, {"make": sgd(), "plan": linear}),
        ("loosen_clipping factor=4", {"make": sgd(), "clip": 0.01}, {"make": sgd(), "clip": 0.04}),
        ("loosen_clipping off=true", {"make": sgd(), "clip": 0.01}, {"make": sgd()}),
        ("clip_value limit=0.01", {"make": sgd()}, {"make": sgd(), "clip_value": 0.01}),
        ("skip_nonfinite", {"make": sgd(), "poison": 3}, {"make": sgd(), "poison": 3, "skip": 3}),
    ],
)
def test_a_change_is_the_edit_by_hand(change: str, script: dict[str, Any], by_hand: dict[str, Any]) -> None:
    ran = arm(train, change, **script)
    assert not ran.failed, ran.failed
    assert ran.said
    edited = train(**by_hand)
    assert same(ran.result, edited)
    assert all(bool(torch.isfinite(one).all()) for one in edited)
    assert not same(ran.result, train(**script))


def test_a_cosine_instead() -> None:
    ran = arm(train, "replace_schedule kind=cosine steps=8", make=sgd())
    by_hand = train(sgd(), plan=lambda optimizer: CosineAnnealingLR(optimizer, STEPS))
    torch.testing.assert_close(ran.result, by_hand)


def test_the_peak_of_one_cycle_is_its_rate() -> None:
    def one_cycle(peak: float) -> Plan:
        return lambda optimizer: OneCycleLR(optimizer, peak, total_steps=STEPS + 1, cycle_momentum=False)

    ran = arm(train, "set_lr value=0.2", make=sgd(), plan=one_cycle(0.05))
    torch.testing.assert_close(ran.result, train(sgd(), plan=one_cycle(0.2)))


def test_the_ramp_in_numbers() -> None:
    found = []

    def script() -> None:
        model = mlp()
        optimizer = SGD(
            [{"params": model[0].parameters()}, {"params": model[2].parameters(), "lr": 0.2}], lr=0.1
        )
        optimizer.register_step_pre_hook(
            lambda optimizer, *_: found.append([group["lr"] for group in optimizer.param_groups])
        )
        for _ in range(6):
            optimizer.zero_grad()
            model(data()[0]).sum().backward()
            optimizer.step()
        assert optimizer.param_groups[0]["lr"] == 0.1

    ran = arm(script, "ramp_lr first=1e-4 last=1 steps=5")
    assert [pair[0] for pair in found] == pytest.approx([1e-4, 1e-3, 1e-2, 0.1, 1, 1])
    assert [pair[1] for pair in found] == pytest.approx([2e-4, 2e-3, 2e-2, 0.2, 2, 2])
    assert ran.said[0] == "lr 0.1 -> 0.0001 in group 0 of SGD, then up to 1 in 5 steps"


def test_a_closure() -> None:
    """The gradients are clipped after each call of it."""

    def script(clip: float | None = None) -> Tensors:
        torch.manual_seed(0)
        x, y = data()
        model = mlp()
        optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=3)

        def closure() -> torch.Tensor:
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            return loss

        for _ in range(3):
            optimizer.step(closure)
        return weights(model)

    assert same(arm(script, "clip_norm limit=0.05").result, script(clip=0.05))


@pytest.mark.parametrize(
    ("change", "make", "why"),
    [
        (
            "set_momentum value=0.9",
            lambda model: torch.optim.Adagrad(model.parameters()),
            "Adagrad has no momentum",
        ),
        ("set_betas beta1=0.9 beta2=0.99", sgd(), "SGD has no betas"),
        ("set_weight_decay value=0", sgd(), "weight_decay is 0.0 already in SGD"),
        ("swap_optimizer name=sgd", sgd(), "the script trains with SGD already"),
        ("loosen_clipping", sgd(), "the script called neither clip_grad_norm_ nor"),
        ("skip_nonfinite", sgd(), "all gradients of 8 steps were finite"),
        ("hold_lr", sgd(), "there is no schedule"),
        ("full_precision", sgd(), "neither autocast nor half-precision"),
        ("shuffle_data", sgd(), "no DataLoader was made"),
        ("set_dropout value=0.1", sgd(), "no dropout was found"),
        ("force_modes", sgd(), "right mode at every call"),
        ("pass_logits", sgd(), "no softmax or sigmoid came between"),
        ("train_all_parameters", sgd(), "an optimizer holds all 4 parameters behind the loss"),
    ],
)
def test_what_cannot_be_changed_is_told(change: str, make: Make, why: str) -> None:
    ran = arm(train, change, make=make)
    assert why in ran.failed[0]
    assert same(ran.result, train(make))
