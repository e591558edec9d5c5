"""What a tensor holds, against the slow obvious way, and tensors that must not be touched."""

from __future__ import annotations

import math

import pytest
import torch

from traindx.observe.torch.finite import extent, kind, numbers, positions, readable

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1.0, -2.0, 0.0], "finite"),
        ([1.0, -INF], "-inf"),
        ([-INF, -INF], "-inf"),
        ([1.0, INF, -INF], "inf"),
        ([INF, NAN, 1.0], "nan"),
    ],
)
def test_kind(dtype: torch.dtype, values: list[float], wanted: str) -> None:
    assert kind(torch.tensor(values, dtype=dtype)) == wanted


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.uint8])
def test_whole_numbers_are_finite(dtype: torch.dtype) -> None:
    assert kind(torch.tensor([0, 1, 1], dtype=dtype)) == "finite"


def test_complex_numbers() -> None:
    assert kind(torch.tensor([1 + 2j, complex(0, NAN)])) == "nan"
    assert extent(torch.tensor([1 + 2j, -3j]).conj()) == (-2.0, 3.0)


def test_largest_finite_half_is_finite() -> None:
    """A sum of these would overflow."""
    assert kind(torch.full((1000,), 65504.0, dtype=torch.float16)) == "finite"


def test_numbers() -> None:
    tensor = torch.tensor([[0.0, NAN, 3.5], [-INF, 0.0, -7.0]])
    flat = tensor.flatten().tolist()
    good = [value for value in flat if math.isfinite(value)]
    assert numbers(tensor) == {
        "count": len(flat),
        "zeros": flat.count(0.0),
        "nonfinite": len(flat) - len(good),
        "nonfinite_share": pytest.approx(1 - len(good) / len(flat)),
        "dtype": "float32",
        "shape": [2, 3],
        "min": min(good),
        "max": max(good),
    }
    assert numbers(torch.tensor([1.0, 2.0]))["max"] == 2.0
    assert "min" not in numbers(torch.tensor([NAN]))
    assert numbers(torch.empty(0)) == {}


def test_positions() -> None:
    tensor = torch.zeros(3, 4, 5)
    tensor[1, 2, 3] = tensor[2, 2, 0] = NAN
    assert [positions(tensor, dim) for dim in (0, 1, -1)] == [[1, 2], [2], [0, 3]]
    assert positions(torch.tensor([0.0, INF]), 0) == [1]


def test_nothing_to_read() -> None:
    given_back = torch.ones(10)
    given_back.untyped_storage().resize_(0)
    for tensor in (
        given_back,
        torch.ones(3, device="meta"),
        torch.nn.parameter.UninitializedParameter(),
    ):
        assert readable(tensor) is None
        assert kind(tensor) is None


def test_sparse_gradients_are_read() -> None:
    table = torch.nn.Embedding(5, 2, sparse=True)
    (table(torch.tensor([1, 3])) * NAN).sum().backward()
    assert kind(table.weight.grad) == "nan"


def test_only_the_own_part_of_a_sharded_tensor_is_read() -> None:
    """Asking for the whole would wait for the other processes."""
    from torch.distributed.tensor import DTensor, Shard, init_device_mesh

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        whole = DTensor.from_local(torch.tensor([1.0, NAN]), init_device_mesh("cpu", (1,)), [Shard(0)])
        assert type(readable(whole)) is torch.Tensor
        assert kind(whole) == "nan"
    finally:
        torch.distributed.destroy_process_group()
