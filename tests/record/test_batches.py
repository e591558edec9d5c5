"""Statistics of inputs and targets against slow versions; batches that come again; shapes at the loss."""

from __future__ import annotations

import math

import pytest
import torch

from traindx.observe.data.batches import Batches, input_statistics
from traindx.observe.data.targets import describe_shapes, target_statistics
from traindx.observe.torch import element_samples as element_samples


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def test_a_table_is_told_exactly() -> None:
    x = torch.randn(30, 20) * torch.logspace(-2, 3, 20) + 7
    x[:, 3] = 2.5
    x[:, 8] = 0
    x[:, 9] = 1e6 + torch.arange(30)
    told = input_statistics(x)
    wide = x.double()
    assert told["mean"] == pytest.approx(wide.mean().item(), rel=1e-4)
    assert told["std"] == pytest.approx(wide.std(unbiased=False).item(), rel=1e-4)
    assert told["min"] == x.min().item()
    assert told["max"] == x.max().item()
    assert told["zero_share"] == pytest.approx((x == 0).double().mean().item())
    assert told["nonfinite"] == 0
    assert told["constant_share"] == pytest.approx(2 / 20)
    spreads = wide.std(0, unbiased=False)
    spreads = spreads[spreads > 0]
    assert told["scale_ratio"] == pytest.approx((spreads.max() / spreads.min()).item(), rel=1e-2)


@pytest.mark.parametrize("shape", [(5000,), (700, 900), (40, 300, 50), (64, 3, 32, 32), (16, 2, 9, 10, 11)])
def test_large_batches_are_told_from_a_sample(shape: tuple[int, ...]) -> None:
    x = 3 + 2 * torch.randn(shape)
    told = input_statistics(x)
    assert told["mean"] == pytest.approx(3, abs=0.15)
    assert told["std"] == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("last", [False, True])
def test_channels_of_images_have_a_scale(last: bool) -> None:
    x = torch.randn(16, 3, 20, 20) * torch.tensor([1.0, 10.0, 200.0])[:, None, None] + 50
    x[:, :, 0] = 50.0
    told = input_statistics(x.permute(0, 2, 3, 1) if last else x)
    assert told["scale_ratio"] == pytest.approx(200, rel=0.4)
    assert told["constant_share"] == pytest.approx(1 / 6, abs=0.01)  # one line of the six that are read


def test_features_of_sequences_vary_over_time() -> None:
    x = torch.randn(10, 30, 4)
    x[..., 1] = 0.5
    assert input_statistics(x)["constant_share"] == 0.25


def test_few_rows_tell_nothing_of_features() -> None:
    told = input_statistics(torch.ones(4, 5))
    assert "constant_share" not in told
    assert "scale_ratio" not in told


def test_features_are_told_now_and_then() -> None:
    seen = Batches()
    told = ["constant_share" in seen.input(torch.randn(9, 4), step) for step in range(1, 17)]
    assert told == [step <= 4 or step % 8 == 0 for step in range(1, 17)]


def test_nonfinite_inputs() -> None:
    x = torch.ones(10, 10)
    x[0, :5] = math.nan
    x[1, 0] = math.inf
    told = input_statistics(x)
    assert told["nonfinite"] == pytest.approx(0.06)
    assert told["mean"] == 1
    assert told["max"] == 1
    assert input_statistics(torch.full((9, 2), math.nan))["nonfinite"] == 1


def test_whole_numbers_and_odd_tensors() -> None:
    assert input_statistics(torch.tensor([[3, 9, 3]])) == {"min": 3, "max": 9, "distinct": 2}
    assert input_statistics(torch.tensor([0, 10**12]))["distinct"] == 2
    assert input_statistics(torch.tensor([True, False]))["distinct"] == 2
    assert input_statistics(torch.tensor(2.0))["mean"] == 2
    assert input_statistics(torch.zeros(0, 3)) == {}
    assert input_statistics(torch.zeros(3, 3, device="meta")) == {}
    assert input_statistics(torch.ones(8, 2, dtype=torch.bfloat16))["mean"] == 1
    assert input_statistics(torch.eye(4).to_sparse()) == {}


def fingerprint(tensor: torch.Tensor) -> int:
    batches = Batches()
    batches.input(tensor, 1)
    return batches.last_print


def test_fingerprints_tell_batches_apart() -> None:
    batches = [torch.randn(16, 3, 20, 20) for _ in range(50)]
    assert len({fingerprint(one) for one in batches}) == 50
    assert fingerprint(batches[0]) == fingerprint(batches[0].clone())
    assert fingerprint(torch.zeros(2, 3)) != fingerprint(torch.zeros(3, 2))
    digits = [torch.where(torch.rand(64, 1, 28, 28) < 0.2, 1.0, 0.0) for _ in range(50)]
    assert len({fingerprint(one) for one in digits}) == 50
    assert fingerprint(torch.ones(3, dtype=torch.bfloat16))
    assert fingerprint(torch.randn(4, 6).t()) != 0


def test_batches_that_come_again() -> None:
    seen = Batches()
    a, b = torch.randn(9, 4), torch.randn(9, 4)
    assert seen.repeats() == {}
    assert seen.input(a, 1) == input_statistics(a) | {"repeat_share": 0}
    seen.input(b, 2)
    assert seen.input(a, 8) == input_statistics(a) | {"repeat_share": 1 / 3, "repeat_distance": 7}
    seen.input(a, 10)
    assert seen.repeats() == {"repeat_share": 0.5, "repeat_distance": 2}
    assert seen.input(torch.zeros(0, 3), 11) == {}


def test_targets() -> None:
    labels = torch.tensor([0, 1, 1, 1, 4, -100, -100, 1])
    told = target_statistics(labels)
    assert told == {
        "kind": "classes",
        "ignored_share": 0.25,
        "min": 0,
        "max": 4,
        "distinct": 3,
        "top_share": pytest.approx(4 / 6),
    }
    assert target_statistics(torch.tensor([0.0, 1.0, 1.0, 1.0]))["top_share"] == 0.75
    real = target_statistics(torch.tensor([0.5, 1.5, math.nan, 4.0]))
    assert real["kind"] == "real"
    assert real["nonfinite"] == 0.25
    assert real["mean"] == pytest.approx(2.0)
    assert real["std"] == pytest.approx(torch.tensor([0.5, 1.5, 4.0]).std(unbiased=False).item())
    assert target_statistics(torch.full((3,), -100))["ignored_share"] == 1


def test_classes_are_counted_over_batches() -> None:
    seen = Batches()
    told = seen.targets(torch.tensor([0, 0, 2]))
    assert "kind" not in told
    assert told["top_share"] == pytest.approx(2 / 3)
    seen.targets(torch.tensor([5, 2, -100]))
    seen.targets(torch.tensor([0.5, 0.1]))
    assert seen.classes() == {0: 2, 2: 2, 5: 1}


def test_shapes_at_the_loss() -> None:
    silent = describe_shapes(torch.zeros(8, 1), torch.zeros(8))
    assert silent["broadcasts"] is True
    assert silent["broadcast_shape"] == "8x8"
    assert silent["output_shape"] == "8x1"
    assert silent["target_shape"] == "8"
    assert describe_shapes(torch.zeros(8, 1), torch.zeros(8, 1))["broadcasts"] is False
    told = describe_shapes(torch.zeros(8, 10), torch.zeros(8, dtype=torch.long))
    assert told["broadcasts"] is False
    assert told["target_dtype"] == "int64"
    assert describe_shapes(torch.zeros(3, 4), torch.zeros(5))["broadcasts"] is False
