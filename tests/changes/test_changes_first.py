"""Changes do in numbers what an edit by hand does, bit for bit."""

from __future__ import annotations

from collections import UserDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from .arms import Tensors, arm, data, mlp, same, weights


def train(
    lr: float = 0.1,
    clip: float | None = None,
    zero: bool = True,
    x: Callable[[torch.Tensor], torch.Tensor] = lambda x: x,
    schedule: bool = False,
    one_batch: bool = False,
    adam: bool = False,
) -> tuple[Tensors, list[float], list[float]]:
    torch.manual_seed(0)
    model = mlp()
    kind: Any = torch.optim.Adam if adam else torch.optim.SGD
    optimizer = kind(model.parameters(), lr=lr)
    plan = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.5) if schedule else None
    loader = DataLoader(TensorDataset(*data()), batch_size=16, shuffle=True)
    losses, rates = [], []
    kept = None
    for _ in range(2):
        for inputs, labels in loader:
            if one_batch:
                kept = kept or (inputs.clone(), labels.clone())
                inputs, labels = kept
            if zero:
                optimizer.zero_grad()
            loss = nn.CrossEntropyLoss()(model(x(inputs)), labels)
            loss.backward()
            if clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), clip)
            optimizer.step()
            if plan is not None:
                plan.step()
            losses.append(loss.item())
            rates.append(optimizer.param_groups[0]["lr"])
    return weights(model), losses, rates


@pytest.mark.parametrize(
    ("change", "script", "by_hand"),
    [
        ("scale_lr factor=0.1", {"lr": 0.1}, {"lr": 0.1 * 0.1}),
        ("scale_lr factor=0.5", {"schedule": True}, {"schedule": True, "lr": 0.05}),
        ("set_lr value=0.03", {"lr": 0.1}, {"lr": 0.03}),
        ("set_lr value=0.05", {"lr": 0.1, "schedule": True}, {"lr": 0.05, "schedule": True}),
        ("set_lr value=0.03", {"lr": 0.1, "adam": True}, {"lr": 0.03, "adam": True}),
        ("clip_norm limit=0.2", {}, {"clip": 0.2}),
        ("zero_gradients", {"zero": False}, {"zero": True}),
        ("zero_inputs", {}, {"x": torch.zeros_like}),
        ("repeat_batch", {}, {"one_batch": True}),
    ],
)
def test_a_change_is_the_edit_by_hand(change: str, script: dict[str, Any], by_hand: dict[str, Any]) -> None:
    ran = arm(train, change, **script)
    assert not ran.failed, ran.failed
    assert ran.said
    plain, edited = train(**script), train(**by_hand)
    assert same(ran.result[0], edited[0])
    assert ran.result[1] == edited[1]
    assert not same(ran.result[0], plain[0])


def test_no_change_is_the_script_itself() -> None:
    assert arm(train).result[1] == train()[1]


def test_the_script_reads_its_own_rates() -> None:
    """Schedules go on undisturbed."""
    ran = arm(train, "scale_lr factor=0.1", schedule=True)
    assert ran.result[2] == train(schedule=True)[2]


def test_changes_compose() -> None:
    ran = arm(train, "scale_lr factor=0.5", "clip_norm limit=0.2", "zero_gradients", zero=False)
    assert not ran.failed
    assert same(ran.result[0], train(lr=0.05, clip=0.2)[0])


def test_a_change_that_changes_nothing_has_failed() -> None:
    assert "script clears them itself" in arm(train, "zero_gradients").failed[0]
    assert (
        "no gradient norm was above 1000: the largest in 8 steps was"
        in arm(train, "clip_norm limit=1000").failed[0]
    )
    assert "no optimizer of torch" in arm(lambda: None, "scale_lr factor=2").failed[0]


def test_labels_are_other_samples() -> None:
    """With labels that say nothing, the loss stays where chance has it; random streams are not used up."""
    ran = arm(train, "shuffle_labels", lr=0.5)
    assert not ran.failed
    assert ran.result[1] != train(lr=0.5)[1]
    assert "of the first batch differ" in ran.said[0]


def hand_written(loader: bool = True, epochs: int = 2) -> tuple[Tensors, list[float]]:
    """No loss function of torch; batches from a loader or drawn at random."""
    torch.manual_seed(0)
    x, y = data()
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []

    def step(inputs: torch.Tensor, labels: torch.Tensor) -> None:
        optimizer.zero_grad()
        output = model(inputs)
        loss = (output.logsumexp(1) - output.gather(1, labels[:, None])[:, 0]).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    for _ in range(epochs):
        if loader:
            for inputs, labels in DataLoader(TensorDataset(x, y), batch_size=16):
                step(inputs, labels)
        else:
            for _ in range(4):
                chosen = torch.randint(0, len(x), (16,))
                step(x[chosen], y[chosen])
    return weights(model), losses


def test_labels_of_a_hand_written_loss() -> None:
    ran = arm(hand_written, "shuffle_labels", epochs=30)
    assert ran.said == ["part 2 of each batch is other samples' labels"]
    assert ran.result[1][-1] > 2 * hand_written(epochs=30)[1][-1]
    ran = arm(hand_written, "shuffle_labels", loader=False)
    assert "not one of torch's and no DataLoader" in ran.failed[0]
    assert ran.stopped.startswith("shuffle_labels could not be applied")


def test_one_batch_drawn_again() -> None:
    ran = arm(hand_written, "repeat_batch", loader=False, epochs=20)
    assert "the same batch is drawn at every step" in ran.said[0]
    losses = ran.result[1][1:]
    assert losses == sorted(losses, reverse=True)
    assert losses != hand_written(loader=False, epochs=20)[1][1:]


def in_order(losses: list[float], by_hand: bool = False) -> None:
    """Slices of a tensor, no DataLoader."""
    torch.manual_seed(0)
    x, y = data()
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for number in range(8):
        at = 0 if by_hand else 8 * number
        loss = functional.cross_entropy(model(x[at : at + 8]), y[at : at + 8])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())


def test_one_batch_without_a_loader() -> None:
    found: list[float] = []
    expected: list[float] = []
    ran = arm(in_order, "repeat_batch", losses=found)
    in_order(expected, by_hand=True)
    assert found == expected
    assert "inputs (8x4) and targets of the first step are given" in ran.said[0]


def test_validation_keeps_its_data() -> None:
    """Also where only the model's call, not the loader, stands under `no_grad`."""
    seen: list[torch.Tensor] = []

    def script() -> None:
        x, y = data()
        model = mlp()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        training, validation = (DataLoader(TensorDataset(x, y), batch_size=16) for _ in range(2))
        for _ in range(2):
            for inputs, labels in training:
                optimizer.zero_grad()
                functional.cross_entropy(model(inputs), labels).backward()
                optimizer.step()
            for inputs, _ in validation:
                with torch.no_grad():
                    model(inputs)
                seen.append(inputs)

    assert not arm(script, "repeat_batch").failed
    assert torch.equal(torch.cat(seen[:4]), data()[0])
    assert torch.equal(torch.cat(seen[4:]), data()[0])


def spoiled(drop: bool, bad: float = 1e6) -> tuple[Tensors, list[float]]:
    """A training whose data hold two broken samples, left out by hand or not."""
    torch.manual_seed(0)
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    inputs, labels = data()
    inputs[3, 0], inputs[20, 1] = bad, -bad
    losses = []
    for x, y in DataLoader(TensorDataset(inputs, labels), batch_size=16):
        keep = (x.abs().amax(1) <= 50.0) if drop else torch.ones(len(x), dtype=torch.bool)
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(x[keep]), y[keep])
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return weights(model), losses


@pytest.mark.parametrize("bad", [1e6, float("inf")])
def test_broken_samples_are_left_out_with_their_targets(bad: float) -> None:
    ran = arm(spoiled, "drop_outliers limit=50", drop=False, bad=bad)
    assert not ran.failed
    assert any("2 of 64 samples were left out" in text for text in ran.said)
    by_hand, losses = spoiled(drop=True, bad=bad)
    assert same(ran.result[0], by_hand)
    assert ran.result[1] == losses


@dataclass(frozen=True)
class Rows:
    target: torch.Tensor
    x: torch.Tensor


@pytest.mark.parametrize("form", ["mapping", "object"])
def test_broken_samples_are_left_out_of_batches_of_any_form(form: str) -> None:
    inputs, labels = data()
    inputs[3, 0] = torch.nan

    def collate(rows: list[Any]) -> Any:
        target, x = torch.stack([1e3 + row[1] for row in rows]), torch.stack([row[0] for row in rows])
        return UserDict(target=target, x=x) if form == "mapping" else Rows(target, x)

    def script() -> list[tuple[int, int]]:
        model, found = mlp(), []
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for batch in DataLoader(TensorDataset(inputs, labels), batch_size=16, collate_fn=collate):
            assert type(batch) is (UserDict if form == "mapping" else Rows)
            held = batch.data if form == "mapping" else vars(batch)
            model(held["x"]).sum().backward()
            optimizer.step()
            found.append((len(held["x"]), len(held["target"])))
        return found

    ran = arm(script, "drop_outliers limit=50")
    assert not ran.failed
    assert ran.result == [(15, 15), (16, 16), (16, 16), (16, 16)]


def test_nothing_to_leave_out_is_said() -> None:
    ran = arm(train, "drop_outliers limit=50")
    assert "samples lie within 50" in " ".join(ran.failed)
