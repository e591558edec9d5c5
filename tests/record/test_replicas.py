"""The checksum of the weights: the same for the same weights, another for others, and cheap."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from torch import nn

from traindx.observe.torch.replicas import checksum, due


def model(seed: int = 0, width: int = 40) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, width, 3), nn.BatchNorm2d(width), nn.Flatten(), nn.Linear(width, 10))


def test_same_weights_same_number() -> None:
    one, other = model(), model()
    assert checksum(one.parameters()) == checksum(other.parameters())
    assert checksum(one.parameters()) != checksum(model(1).parameters())


def test_small_model_is_summed_whole() -> None:
    """All elements are in, each with a weight of its own."""
    one = nn.Linear(20, 10)
    before = checksum(one.parameters())
    for parameter in one.parameters():
        for place in range(parameter.numel()):
            with torch.no_grad():
                kept = parameter.view(-1)[place].item()
                parameter.view(-1)[place] += 1e-3
                assert checksum(one.parameters()) != before
                parameter.view(-1)[place] = kept
    assert checksum(one.parameters()) == before


def test_against_a_plain_sum() -> None:
    weights = [torch.arange(6.0).view(2, 3), torch.tensor([7.0, -2.0])]
    golden = (math.sqrt(5) - 1) / 2
    flat = [*weights[0].flatten().tolist(), *weights[1].tolist()]
    slow = sum(value * (0.5 + (place * golden) % 1) for place, value in enumerate(flat, 1))
    assert checksum(weights) == pytest.approx(slow, rel=1e-12)


def test_swapped_values_differ() -> None:
    assert checksum([torch.tensor([1.0, 2.0])]) != checksum([torch.tensor([2.0, 1.0])])
    one, other = torch.ones(3, 3), torch.zeros(3, 3)
    assert checksum([one, other]) != checksum([other, one])


def test_every_parameter_has_its_part() -> None:
    """Also a small one beside a large one."""
    weights = [torch.zeros(300, 1000), torch.zeros(3), torch.zeros(50_000)]
    start = checksum(weights)
    for one in weights:
        one += 1
        assert checksum(weights) != start
        one -= 1


def test_at_most_so_many_elements() -> None:
    """Each counts with at most 1.5 times its value."""
    for weights in ([torch.ones(1000, 1000)], [torch.ones(3) for _ in range(9000)]):
        value = checksum(weights)
        assert value is not None
        assert 2000 < value <= 4096 * 1.5


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_other_number_types(dtype: torch.dtype) -> None:
    one = torch.linspace(0, 1, 50).to(dtype)
    assert checksum([one]) == checksum([one.clone()])
    assert checksum([one]) != checksum([one.flip(0)])


def test_memory_format_is_no_difference_in_kind() -> None:
    one = model().to(memory_format=torch.channels_last)
    other = model().to(memory_format=torch.channels_last)
    assert checksum(one.parameters()) == checksum(other.parameters())


def test_nothing_to_read() -> None:
    assert checksum([]) is None
    assert checksum([torch.empty(3, device="meta")]) is None
    assert checksum([torch.empty(3, device="meta"), torch.ones(2)]) is not None


def test_not_finite() -> None:
    value = checksum([torch.tensor([1.0, float("inf"), float("-inf")])])
    assert value is not None
    assert math.isnan(value)


def test_shards_differ_by_design() -> None:
    from torch.distributed.tensor import DTensor, Shard, init_device_mesh

    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    try:
        mesh = init_device_mesh("cpu", (1,))
        shard = DTensor.from_local(torch.ones(4), mesh, [Shard(0)])
        assert checksum([shard]) is None
    finally:
        torch.distributed.destroy_process_group()


def test_same_in_another_process() -> None:
    """Bit for bit, with another number of threads."""
    code = (
        "import torch; torch.set_num_threads(2); from tests.record.test_replicas import model, checksum;"
        "print(repr(checksum(model(width=200).parameters())))"
    )
    root = Path(__file__).parents[2]
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root)
    assert out.returncode == 0, out.stderr
    assert float(out.stdout) == checksum(model(width=200).parameters())


def test_neutral() -> None:
    one = model()
    state, before = torch.get_rng_state(), [parameter.clone() for parameter in one.parameters()]
    checksum(one.parameters())
    assert torch.equal(state, torch.get_rng_state())
    assert all(map(torch.equal, before, one.parameters()))


def test_due() -> None:
    assert [step for step in range(3001) if due(step)] == [
        *(2**power for power in range(10)),
        *range(1000, 3001, 500),
    ]
