"""Per-layer numbers against a slow plain version of each, and the odd parameters a training may have."""

from __future__ import annotations

import gc
import math
import weakref
from collections.abc import Callable

import pytest
import torch
from torch import nn

from traindx.observe.torch.element_samples import SAMPLE, plain, sample_of, spread
from traindx.observe.torch.gradient_norms import global_norm
from traindx.observe.torch.layer_probe import LayerProbe
from traindx.observe.torch.naming import Names

KEYS = {"grad_norm", "grad_zero_share", "grad_nonfinite", "weight_norm", "update_ratio", "grad_cosine"}


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def small() -> nn.Sequential:
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 3))


def look(
    probe: LayerProbe, optimizer: torch.optim.Optimizer, *, closure: Callable[[], float] | None = None
) -> dict[str, dict[str, float | None]]:
    """One sampled step, as {layer: {statistic: value}}."""
    probe.before(optimizer, closure is None)
    optimizer.step(closure)
    probe.after(optimizer, closure is not None)
    found = probe.collect()
    assert found is not None
    assert set(found) - {"update_lost_share"} == KEYS
    return {name: {key: column[n] for key, column in found.items()} for n, name in enumerate(probe.names)}


def test_small_layers_are_told_exactly() -> None:
    model = small()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01)
    probe = LayerProbe(Names())
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(5, 6)).square().mean().backward()
        before = {name: one.detach().clone() for name, one in model.named_parameters()}
        grads = {name: one.grad.clone() for name, one in model.named_parameters()}
        told = look(probe, optimizer)
        assert list(told) == ["0", "2"]
        for layer in ("0", "2"):
            both = torch.cat([grads[f"{layer}.weight"].flatten(), grads[f"{layer}.bias"]])
            weight = before[f"{layer}.weight"]
            change = model.get_parameter(f"{layer}.weight").detach() - weight
            assert told[layer]["grad_norm"] == pytest.approx(both.norm().item(), rel=1e-5)
            share = (grads[f"{layer}.weight"] == 0).float().mean().item()
            assert told[layer]["grad_zero_share"] == pytest.approx(share, abs=1e-6)
            assert told[layer]["grad_nonfinite"] == 0
            assert told[layer]["weight_norm"] == pytest.approx(weight.norm().item(), rel=1e-5)
            assert told[layer]["update_ratio"] == pytest.approx(
                (change.norm() / weight.norm()).item(), rel=1e-3
            )


def test_a_vector_alone_in_its_layer_is_sampled() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.LayerNorm(4))
    with torch.no_grad():
        model[1].bias.fill_(3.0)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model(torch.randn(3, 4)).sum().backward()
    told = look(LayerProbe(Names()), optimizer)
    assert told["1"]["weight_norm"] == pytest.approx(math.sqrt(4 * 1 + 4 * 9), rel=1e-5)


def test_large_layers_are_told_from_a_sample_near_the_truth() -> None:
    model = nn.Sequential(nn.Linear(300, 200), nn.Linear(200, 7, bias=False))
    optimizer = torch.optim.Adam(model.parameters(), 1e-3)
    (model(torch.randn(64, 300)).square().mean()).backward()
    with torch.no_grad():
        mask = torch.rand(200, 300) < 0.3
        model[0].weight.grad[mask] = 0
    before = model[0].weight.detach().clone()
    norm = torch.cat([one.grad.flatten() for one in model[0].parameters()]).norm().item()
    told = look(LayerProbe(Names()), optimizer)["0"]
    change = (model[0].weight.detach() - before).norm() / before.norm()
    assert told["grad_norm"] == pytest.approx(norm, rel=1e-5)
    assert told["weight_norm"] == pytest.approx(before.norm().item(), rel=0.05)
    assert told["update_ratio"] == pytest.approx(change.item(), rel=0.05)
    assert told["grad_zero_share"] == pytest.approx(mask.float().mean().item(), abs=0.03)


@pytest.mark.parametrize(
    "numel", [1, 15, SAMPLE, SAMPLE + 1, 2200, 9000, 10_000, 65_536, 30_030 * 17, 1_000_003]
)
def test_a_sample_lies_inside_and_reaches_far(numel: int) -> None:
    where = spread(numel)
    picked = sample_of(torch.arange(numel), where).flatten()
    assert picked.numel() == where.length <= SAMPLE
    assert picked.max() < numel
    if numel > SAMPLE:
        assert picked.max() > 0.98 * numel
        assert len(picked.unique()) > 0.8 * SAMPLE
        assert picked.double().mean() == pytest.approx(numel / 2, rel=0.02)
        assert numel % 256 or len((picked % 256).unique()) == 256  # no column of a matrix is left out


def test_nonfinite_gradients_are_counted_in_full() -> None:
    model = nn.Sequential(nn.Linear(100, 90), nn.Linear(90, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    model(torch.randn(4, 100)).sum().backward()
    with torch.no_grad():
        model[0].weight.grad[3, 7] = math.nan
        model[0].weight.grad[80, 90:97] = math.inf
        model[0].bias.grad[0] = -math.inf
    told = look(LayerProbe(Names()), optimizer)
    assert told["0"]["grad_nonfinite"] == 9
    assert math.isnan(told["0"]["grad_norm"])
    assert told["1"]["grad_nonfinite"] == 0


def test_numbers_that_wait_on_a_device_come_out_the_same() -> None:
    model = nn.Sequential(nn.Linear(100, 90), nn.Linear(90, 2))
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    model(torch.randn(4, 100)).sum().backward()
    probe = LayerProbe(Names())
    look(probe, optimizer)
    here = look(probe, optimizer)
    ((_, plan),) = probe._plans.values()
    plan.buckets[0].device = torch.device("cuda")  # what decides whether norms are read at once or later
    assert look(probe, optimizer) == here
    probe.before(optimizer, True)
    assert probe.gradient_norm(optimizer).item() == pytest.approx(global_norm(model.parameters()).item())
    with torch.no_grad():
        model[0].weight.grad[:45] = math.nan
        model[1].bias.grad[0] = math.inf
    told = look(probe, optimizer)
    assert told["0"]["grad_nonfinite"] == pytest.approx(4500, rel=0.05)  # told from the sample
    assert told["1"]["grad_nonfinite"] == 1


def test_gradients_too_large_to_square_are_no_nonfinite_ones() -> None:
    model = nn.Linear(3, 3, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    model.weight.grad = torch.full((3, 3), 1e30)
    told = look(LayerProbe(Names()), optimizer)["Linear"]
    assert told["grad_nonfinite"] == 0


def test_no_gradient_is_a_gap_and_is_told_by_name() -> None:
    model = nn.ModuleDict({"used": nn.Linear(3, 2), "unused": nn.Linear(3, 2), "part": nn.Linear(3, 2)})
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    probe = LayerProbe(Names())
    for _ in range(3):
        optimizer.zero_grad()
        x = torch.randn(4, 3)
        (model["used"](x) + x @ model["part"].weight.t() + 0 * model["part"].bias).sum().backward()
        told = look(probe, optimizer)
    assert told["unused"]["grad_norm"] is None
    assert told["unused"]["grad_zero_share"] is None
    assert told["unused"]["weight_norm"] is not None
    assert told["unused"]["update_ratio"] == 0
    assert probe.without_gradient() == ["unused", "part.bias"]
    assert probe.samples == 3
    model["unused"](torch.randn(1, 3)).sum().backward()
    look(probe, optimizer)
    assert probe.without_gradient() == ["part.bias"]


def test_frozen_parameters_are_not_missed() -> None:
    model = small()
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    probe = LayerProbe(Names())
    model(torch.randn(4, 6)).sum().backward()
    look(probe, optimizer)
    assert probe.without_gradient() == []


def test_weights_of_zero_have_no_ratio() -> None:
    model = nn.Linear(4, 4)
    nn.init.zeros_(model.weight)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    model(torch.randn(2, 4)).sum().backward()
    told = look(LayerProbe(Names()), optimizer)["Linear"]
    assert told["update_ratio"] is None
    assert told["weight_norm"] == 0


def test_sparse_gradients() -> None:
    model = nn.Embedding(50, 4, sparse=True)
    optimizer = torch.optim.SparseAdam(list(model.parameters()), 0.1)
    model(torch.tensor([1, 1, 7])).sum().backward()
    dense = model.weight.grad.to_dense()
    norm = global_norm(model.parameters())
    assert norm is not None
    assert norm.item() == pytest.approx(dense.norm().item())
    told = look(LayerProbe(Names()), optimizer)["Embedding"]
    assert told["grad_norm"] == pytest.approx(dense.norm().item())
    assert told["grad_zero_share"] == pytest.approx((dense == 0).float().mean().item())
    assert told["update_ratio"] is not None
    assert told["update_ratio"] > 0


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64, torch.complex64])
def test_other_numbers(dtype: torch.dtype) -> None:
    weight = nn.Parameter(torch.randn(70, 80).to(dtype))
    optimizer = torch.optim.SGD([weight], 0.1)
    weight.grad = (600 * torch.randn(70, 80)).to(dtype)
    before = weight.detach().clone()
    wide = torch.complex128 if dtype.is_complex else torch.float64
    norm = weight.grad.to(wide).abs().square().sum().sqrt().item()
    total = global_norm([weight])
    assert total is not None
    assert total.dtype is torch.float32
    assert total.item() == pytest.approx(norm, rel=1e-4)
    (told,) = look(LayerProbe(Names()), optimizer).values()
    change = (weight.detach() - before).to(wide).abs().square().sum().sqrt().item()
    size = before.to(wide).abs().square().sum().sqrt().item()
    assert told["grad_norm"] == pytest.approx(norm, rel=1e-4)
    assert told["weight_norm"] == pytest.approx(size, rel=0.05)
    assert told["update_ratio"] == pytest.approx(change / size, rel=0.05)


@pytest.mark.parametrize(("rate", "lost"), [(1e-6, 1.0), (1.0, 0.0)])
def test_updates_that_half_precision_rounds_to_nothing(rate: float, lost: float) -> None:
    weight = nn.Parameter(torch.ones(70, 80, dtype=torch.bfloat16))
    weight.grad = torch.ones_like(weight)
    (told,) = look(LayerProbe(Names()), torch.optim.SGD([weight], rate)).values()
    assert told["update_lost_share"] == lost


def test_the_gradient_is_held_against_that_of_the_look_before() -> None:
    weight = nn.Parameter(torch.ones(7, 8))
    optimizer = torch.optim.SGD([weight], 0.1)
    probe = LayerProbe(Names())
    told = []
    for direction in (1.0, 2.0, -1.0):
        weight.grad = torch.full_like(weight, direction)
        (layer,) = look(probe, optimizer).values()
        told.append(layer["grad_cosine"])
    assert told == [None, pytest.approx(1.0), pytest.approx(-1.0)]


def test_full_precision_loses_no_updates() -> None:
    weight = nn.Parameter(torch.ones(7, 8))
    weight.grad = torch.ones_like(weight)
    (told,) = look(LayerProbe(Names()), torch.optim.SGD([weight], 1e-12)).values()
    assert "update_lost_share" not in told


def test_odd_layouts_shapes_and_shared_weights() -> None:
    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 5, 3).to(memory_format=torch.channels_last)
            self.gappy = nn.Parameter(torch.randn(8, 20)[:, ::2])
            self.scalar = nn.Parameter(torch.tensor(2.0))
            self.empty = nn.Parameter(torch.zeros(0, 3))
            self.first = nn.Linear(10, 10)
            self.second = nn.Linear(10, 10)
            self.second.weight = self.first.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = self.second(self.first(x)) * self.scalar
            return (y @ self.gappy.t()).sum() + self.conv(torch.ones(1, 3, 5, 5)).sum() + self.empty.sum()

    model = Odd()
    assert not model.gappy.is_contiguous()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    probe = LayerProbe(Names())
    for _ in range(2):
        optimizer.zero_grad()
        model(torch.randn(4, 10)).backward()
        before = {name: one.detach().clone() for name, one in model.named_parameters()}
        told = look(probe, optimizer)
        for layer, name in (
            ("conv", "conv.weight"),
            ("gappy",) * 2,
            ("scalar",) * 2,
            ("first", "first.weight"),
        ):
            change = model.get_parameter(name).detach() - before[name]
            assert told[layer]["weight_norm"] == pytest.approx(before[name].norm().item(), rel=1e-5)
            assert told[layer]["update_ratio"] == pytest.approx(
                (change.norm() / before[name].norm()).item(), rel=1e-3
            )
        assert told["empty"] == dict.fromkeys(KEYS)
        assert told["second"]["weight_norm"] == pytest.approx(before["second.bias"].norm().item(), rel=1e-5)


class Rebinding(torch.optim.Optimizer):
    """As tutorials write it: new memory for each parameter instead of a change in place."""

    def __init__(self, parameters: object) -> None:
        super().__init__(parameters, {"lr": 0.5})

    def step(self, closure: object = None) -> None:
        assert closure is None
        for group in self.param_groups:
            for one in group["params"]:
                one.data = one.data - group["lr"] * one.grad


def test_an_optimizer_that_gives_new_memory() -> None:
    model = small()
    optimizer = Rebinding(model.parameters())
    probe = LayerProbe(Names())
    for _ in range(3):
        model.zero_grad()
        model(torch.randn(4, 6)).square().sum().backward()
        before = model[0].weight.detach().clone()
        told = look(probe, optimizer)
        ratio = ((model[0].weight.detach() - before).norm() / before.norm()).item()
        assert told["0"]["update_ratio"] == pytest.approx(ratio, rel=1e-3)


def test_closures_are_read_after_the_step() -> None:
    model = small()
    optimizer = torch.optim.LBFGS(model.parameters(), max_iter=3)
    x = torch.randn(8, 6)

    def closure() -> float:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    told = look(LayerProbe(Names()), optimizer, closure=closure)
    both = torch.cat([one.grad.flatten() for one in model[0].parameters()])
    assert told["0"]["grad_norm"] == pytest.approx(both.norm().item(), rel=1e-5)


@pytest.mark.parametrize("as_tensor", [False, True])
def test_a_scale_is_divided_out(as_tensor: bool) -> None:
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), 0.0)
    (1024 * model(torch.randn(4, 6)).sum()).backward()
    norm = torch.cat([one.grad.flatten() for one in model[2].parameters()]).norm().item() / 1024
    probe = LayerProbe(Names())
    probe.before(optimizer, True, torch.tensor(1024.0) if as_tensor else 1024.0)
    told = probe.collect()
    assert told is not None
    assert told["grad_norm"][1] == pytest.approx(norm, rel=1e-5)
    assert told["update_ratio"] == [None, None]  # there was no step


def test_fused_optimizers_bring_their_scale() -> None:
    model = small()
    optimizer = torch.optim.AdamW(model.parameters(), 0.01, fused=True)
    (64 * model(torch.randn(4, 6)).sum()).backward()
    optimizer.grad_scale = torch.tensor(64.0)
    optimizer.found_inf = torch.tensor(0.0)
    norm = torch.cat([one.grad.flatten() for one in model[0].parameters()]).norm().item() / 64
    assert look(LayerProbe(Names()), optimizer)["0"]["grad_norm"] == pytest.approx(norm, rel=1e-5)


def test_the_norm_of_a_look_is_the_norm_of_all() -> None:
    model = nn.ModuleList([nn.Embedding(9, 4, sparse=True), nn.Linear(4, 2), nn.Linear(4, 2).double()])
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    probe = LayerProbe(Names())
    h = model[0](torch.tensor([1, 2, 2]))
    (model[1](h).sum() + model[2](h.double()).sum()).backward()
    assert probe.gradient_norm(optimizer) is None
    whole = global_norm(model.parameters()).item()
    probe.before(optimizer, True)
    assert probe.gradient_norm(optimizer).item() == pytest.approx(whole, rel=1e-5)
    probe.before(optimizer, True, 4.0)
    assert probe.gradient_norm(optimizer).item() == pytest.approx(whole / 4, rel=1e-5)


def test_tensors_of_other_classes_are_a_gap() -> None:
    class Mine(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise RuntimeError("not to be touched")

    strange = torch.Tensor._make_subclass(Mine, torch.randn(3, 3), True)
    with torch._C.DisableTorchFunctionSubclass():
        assert plain(strange) is None
    assert plain(torch.empty(3, device="meta")) is None


def test_several_optimizers_in_one_look_are_put_together() -> None:
    model = small()
    weights = torch.optim.SGD([model[0].weight, model[2].weight], 0.1)
    biases = torch.optim.SGD([model[0].bias, model[2].bias], 0.1)
    model(torch.randn(4, 6)).sum().backward()
    both = torch.cat([one.grad.flatten() for one in model[0].parameters()]).norm().item()
    probe = LayerProbe(Names())
    for optimizer in (weights, biases):
        probe.before(optimizer, True)
        optimizer.step()
        probe.after(optimizer, False)
    told = probe.collect()
    assert told is not None
    assert probe.names == ["0", "2"]
    assert told["grad_norm"][0] == pytest.approx(both, rel=1e-5)
    assert probe.collect() is None


def test_names_only_grow_and_forgotten_looks_are_not_told() -> None:
    one, two = small(), nn.Linear(2, 2)
    first, second = torch.optim.SGD(one.parameters(), 0.1), torch.optim.SGD(two.parameters(), 0.1)
    probe = LayerProbe(Names())
    one(torch.randn(4, 6)).sum().backward()
    two(torch.randn(4, 2)).sum().backward()
    look(probe, first)
    names = list(probe.names)
    told = look(probe, second)
    assert probe.names[: len(names)] == names
    assert all(told[name]["grad_norm"] is None for name in names)
    probe.before(first, True)
    probe.forget()
    assert probe.collect() is None


def test_nothing_is_kept_alive_and_parameters_can_still_be_swapped() -> None:
    model = small()
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    probe = LayerProbe(Names())
    model(torch.randn(4, 6)).sum().backward()
    look(probe, optimizer)
    optimizer.zero_grad()
    torch.utils.swap_tensors(model[0].bias, nn.Parameter(torch.zeros(8)))
    gone = weakref.ref(model)
    del model, optimizer
    gc.collect()
    assert gone() is None
    assert not probe._plans


def test_the_norm_of_all_gradients() -> None:
    model = small()
    assert global_norm(model.parameters()) is None
    model(torch.randn(4, 6)).sum().backward()
    norm = global_norm(model.parameters())
    assert norm is not None
    assert norm.shape == ()
    assert norm.item() == pytest.approx(
        nn.utils.get_total_norm([one.grad for one in model.parameters()]).item()
    )
    mixed = [*model.parameters(), nn.Parameter(torch.ones(3, dtype=torch.bfloat16))]
    mixed[-1].grad = torch.full((3,), 2.0, dtype=torch.bfloat16)
    total = global_norm(mixed)
    assert total is not None
    assert total.item() == pytest.approx(math.sqrt(norm.item() ** 2 + 12), rel=1e-5)
