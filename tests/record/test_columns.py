"""Which tensors of a batch are inputs and targets, by their names and places."""

from __future__ import annotations

from collections import OrderedDict, UserDict, namedtuple
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest
import torch

from traindx.observe.torch.batch_columns import columns_of, parts_of
from traindx.observe.torch.module_tensors import model_input

X, Y, IDS = torch.randn(8, 5), torch.randint(0, 3, (8,)), torch.randint(0, 50, (8, 6))
MASK, WIDE = torch.ones(8, 6, dtype=torch.int64), torch.randn(8, 3, 4, 4)
Pair = namedtuple("Pair", ["label", "features"])
Plain = namedtuple("Plain", ["a", "b"])


@dataclass
class Batch:
    y: torch.Tensor
    x: torch.Tensor


@dataclass(slots=True)
class Narrow:
    x: torch.Tensor
    y: torch.Tensor


class Pinned:
    def __init__(self) -> None:
        self.inp, self.tgt = X, Y


class Encoding(UserDict[str, Any]):
    pass


class Output(OrderedDict[str, Any]):
    def items(self) -> Any:
        raise AssertionError("user code was run")


class Lazy(Mapping[str, torch.Tensor]):
    """Decodes what is asked for."""

    def __getitem__(self, key: str) -> torch.Tensor:
        raise AssertionError("user code was run")

    def __iter__(self) -> Any:
        raise AssertionError("user code was run")

    def __len__(self) -> int:
        return 2


@pytest.mark.parametrize(
    ("batch", "given", "target", "beside"),
    [
        ((X, Y), X, Y, 0),
        ([X, WIDE, Y], X, Y, 1),
        ({"x": X, "y": Y}, X, Y, 0),
        ({"labels": Y, "image": WIDE}, WIDE, Y, 0),
        ({"input_ids": IDS, "attention_mask": MASK, "labels": Y}, IDS, Y, 1),
        (Encoding(attention_mask=MASK, input_ids=IDS, labels=IDS), IDS, IDS, 1),
        (Output(pixel_values=WIDE, label=Y), WIDE, Y, 0),
        (Batch(Y, X), X, Y, 0),
        (Narrow(X, Y), X, Y, 0),
        (Pinned(), X, Y, 0),
        (Pair(Y, X), X, Y, 0),
        (Plain(X, Y), X, Y, 0),
        ({"inputs": {"dense": X, "ids": IDS}, "targets": Y}, X, Y, 1),
        ({"inputs": {"ids": IDS}, "targets": {"box": torch.randn(8, 4), "kind": Y}}, IDS, Y, 1),
        (({"dense": X}, Y), X, Y, 0),
        ((X, {"labels": Y, "label_lengths": Y + 1}), X, Y, 1),
        ([[X, WIDE], Y], X, Y, 1),
        ((X, Y, ["a.png"] * 8), X, Y, 0),
        ([{"x": X, "y": Y}], X, Y, 0),
        ({"path": ["a"] * 500, "x": X, "sample_id": torch.arange(8), "y": Y}, X, Y, 0),
        ({"image": WIDE, "digit": Y, "index": torch.arange(8)}, WIDE, Y, 0),
        ({"state": X, "action": Y}, X, Y, 0),
        ({"picture": WIDE, "question": IDS, "answer": Y}, WIDE, Y, 1),
        ({"token_type_ids": MASK, "loss_weights": X, "input_ids": IDS, "label": Y}, IDS, Y, 2),
        ({"sample_weight": X, "tokens": IDS, "position_ids": MASK, "label": Y}, IDS, Y, 2),
        ({"category": Y + 1, "dense": X, "target": Y.float()}, X, Y.float(), 1),
        ({"x": X, "soft_label": torch.rand(8, 3), "label": Y}, X, Y, 1),
    ],
)
def test_inputs_and_targets_are_found(
    batch: Any, given: torch.Tensor, target: torch.Tensor, beside: int
) -> None:
    parts = parts_of(batch)
    assert parts is not None
    assert parts.inputs is given
    assert torch.equal(parts.target, target)
    assert parts.extra_count == beside


@pytest.mark.parametrize(
    "batch",
    [
        X,
        [X],
        {},
        (),
        [],
        None,
        "x",
        7,
        Lazy(),
        {"x": X},
        {"x": X, "t": torch.rand(8)},
        {"x": X, "label_mask": MASK},
        {"x": X, "length": Y},
        {"a": Y, "b": Y, "label": Y},
        {"x": torch.randn(7, 5), "label": Y},
        {"x": X, "label": torch.tensor(1.0)},
        {"x": X > 0, "label": Y},
        ([torch.randn(3, 9, 9) for _ in range(3)], [{"labels": torch.ones(3)} for _ in range(3)]),
        ([torch.randn(length, 5) for length in range(1, 9)], Y),
        ([torch.randn(3, 4, 4) for _ in range(3)], torch.ones(3)),
        [{"x": X[0], "y": Y[0]} for _ in range(300)],
    ],
)
def test_what_cannot_be_told_is_let_be(batch: Any) -> None:
    assert parts_of(batch) is None


def test_batches_that_hold_themselves_end() -> None:
    batch: dict[str, Any] = {"x": X, "y": Y}
    batch |= {str(number): batch for number in range(50)}
    assert len(columns_of(batch)) < 300


def test_masks_and_labels_are_not_what_a_model_is_given() -> None:
    assert model_input((), {"attention_mask": MASK, "labels": Y, "tokens": IDS}) is IDS
    assert model_input(({"mask": MASK, "frames": WIDE},), {}) is WIDE
    assert model_input((Batch(Y, X),), {}) is X
    assert model_input(([X, X[:3]], MASK), {}) is X
    assert model_input((), {"labels": Y}) is Y
