"""What flows through models, against the same numbers taken the slow way."""

from __future__ import annotations

import copy
import io
import math
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.modules import module as torch_modules
from torch.utils.checkpoint import checkpoint

from traindx.observe.torch.activation_probe import ActivationProbe
from traindx.observe.torch.naming import Names
from traindx.observe.torch.slots import SampleSlot

KEYS = ["zero_share", "dead_share", "saturated_share", "spread", "mean", "std", "nonfinite"]


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    yield
    assert not torch_modules._has_any_global_hook()


def look(probe: ActivationProbe, forward: Callable[[], Any]) -> dict[str, dict[str, float | None]]:
    """One forward pass, as {module: {statistic: value}}, without what was not seen in it."""
    probe.arm()
    try:
        forward()
    finally:
        probe.disarm()
    names, found = probe.collect()
    assert list(found) == ([f"activation_{key}" for key in KEYS] if names else [])
    told = {
        name: {key: column[n] for key, column in zip(KEYS, found.values(), strict=True)}
        for n, name in enumerate(names)
    }
    return {
        name: numbers for name, numbers in told.items() if any(one is not None for one in numbers.values())
    }


def hooks_in(model: nn.Module) -> int:
    return sum(len(one._forward_hooks) + len(one._forward_pre_hooks) for one in model.modules())


class Plain(nn.Module):
    """One layer, one activation, one layer."""

    def __init__(self, activation: nn.Module, width: int = 12) -> None:
        super().__init__()
        self.one = nn.Linear(4, width)
        self.act = activation
        self.two = nn.Linear(width, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.two(self.act(self.one(x)))


class Swish(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.sigmoid(x)


LIMITS: list[tuple[nn.Module, Callable[[torch.Tensor], torch.Tensor] | None, bool]] = [
    (nn.ReLU(), None, True),
    (nn.ReLU(inplace=True), None, True),
    (nn.GELU(), None, True),
    (nn.SiLU(), None, True),
    (Swish(), None, True),
    (nn.LeakyReLU(), None, False),
    (nn.Sigmoid(), lambda y: y * (1 - y) < 0.25 / 50, False),
    (nn.Tanh(), lambda y: 1 - y * y < 1 / 50, False),
    (nn.Softsign(), lambda y: (1 - y.abs()) ** 2 < 1 / 50, False),
    (nn.Hardtanh(), lambda y: y.abs() >= 1, False),
    (nn.ReLU6(), lambda y: y >= 6, True),
    (nn.ELU(), lambda y: (y < 0) & (y + 1 < 1 / 50), False),
    (nn.CELU(2.0), lambda y: (y < 0) & (y / 2 + 1 < 1 / 50), False),
]


@pytest.mark.parametrize(("activation", "saturated", "zeros"), LIMITS, ids=lambda one: type(one).__name__)
def test_each_activation(
    activation: nn.Module, saturated: Callable[[torch.Tensor], torch.Tensor] | None, zeros: bool
) -> None:
    model = Plain(activation)
    x = 12 * torch.randn(30, 4)
    told = look(ActivationProbe(Names()), lambda: model(x))["act"]
    with torch.no_grad():
        y = model.act(model.one(x)).double()
    assert told["mean"] == pytest.approx(y.mean().item(), abs=1e-5)
    assert told["std"] == pytest.approx(y.std(unbiased=False).item(), rel=1e-4)
    assert told["nonfinite"] == 0
    assert told["dead_share"] is None
    if saturated is None:
        assert told["saturated_share"] is None
    else:
        assert told["saturated_share"] == pytest.approx(saturated(y).double().mean().item())
        assert 0 < saturated(y).double().mean() < 1  # the input is wide enough for the test to mean something
    if zeros:
        nil = 0 if "ReLU" in type(activation).__name__ else 1e-4
        assert told["zero_share"] == pytest.approx((y.abs() <= nil).double().mean().item())
    else:
        assert told["zero_share"] is None


def test_layers_tell_their_moments_and_softmax_is_nothing() -> None:
    model = nn.Sequential(nn.Linear(4, 5), nn.Softmax(-1), nn.Linear(5, 2))
    x = torch.randn(9, 4)
    told = look(ActivationProbe(Names()), lambda: model(x))
    assert set(told) == {"0", "2"}
    y = model[0](x)
    assert told["0"]["mean"] == pytest.approx(y.mean().item(), abs=1e-6)
    assert told["0"]["std"] == pytest.approx(y.std(unbiased=False).item(), rel=1e-4)
    assert told["0"]["zero_share"] is None


def test_a_layer_that_goes_straight_into_an_activation_is_seldom_looked_at() -> None:
    model = Plain(nn.ReLU())
    probe = ActivationProbe(Names())
    seen = [set(look(probe, lambda: model(torch.randn(6, 4)))) for _ in range(32)]
    assert seen[0] == seen[31] == {"one", "act", "two"}
    assert all("one" not in each and "act" in each for each in seen[2:31])
    assert sum("two" in each for each in seen[2:31]) in (7, 8)  # layers take turns


def test_small_spread_around_a_large_mean() -> None:
    model = nn.Sequential(nn.Linear(2, 3))
    with torch.no_grad():
        model[0].bias.fill_(5000.0)
        model[0].weight.mul_(0.01)
    x = torch.randn(20, 2)
    told = look(ActivationProbe(Names()), lambda: model(x))["0"]
    assert told["std"] == pytest.approx(model(x).double().std(unbiased=False).item(), rel=1e-6)


def test_nonfinite_values_are_a_share() -> None:
    model = Plain(nn.ReLU(), 10)
    x = torch.randn(10, 4)
    x[3] = math.nan
    told = look(ActivationProbe(Names()), lambda: model(x))
    assert told["act"]["nonfinite"] == pytest.approx(0.1)
    assert told["two"]["nonfinite"] == pytest.approx(0.1)
    assert math.isnan(told["act"]["std"])


def test_dead_units_need_rows_and_samples() -> None:
    model = Plain(nn.ReLU(), 10)
    with torch.no_grad():
        model.one.bias[:3] = -1000.0
    probe = ActivationProbe(Names())
    shares = [look(probe, lambda: model(torch.randn(100, 4)))["act"]["dead_share"] for _ in range(4)]
    assert shares == [None, None, 0.3, 0.3]
    with torch.no_grad():
        model.one.bias[0] = 0.0
    assert look(probe, lambda: model(torch.randn(100, 4)))["act"]["dead_share"] == 0.2
    few = ActivationProbe(Names())
    shares = [look(few, lambda: model(torch.randn(40, 4)))["act"]["dead_share"] for _ in range(8)]
    assert shares == [None] * 6 + [0.2, 0.2]  # 256 rows take seven samples of forty


def test_a_unit_that_speaks_seldom_is_not_dead_before_ten_samples() -> None:
    model = nn.Sequential(nn.ReLU(), nn.Linear(2, 1))
    probe = ActivationProbe(Names())

    def batch(first: float) -> torch.Tensor:
        return torch.stack([torch.full((200,), first), torch.ones(200)], 1)

    look(probe, lambda: model(batch(1.0)))
    shares = [look(probe, lambda: model(batch(-1.0)))["0"]["dead_share"] for _ in range(11)]
    assert shares[1:] == [0.0] * 8 + [0.5] * 2


def test_dead_channels_of_images() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(3, 8, 3, padding=1)
            self.act = nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.act(self.conv(x))

    model = Net()
    with torch.no_grad():
        model.conv.bias[:2] = -1000.0
    for layout in (torch.contiguous_format, torch.channels_last):
        probe = ActivationProbe(Names())
        for _ in range(3):
            told = look(probe, lambda: model(torch.randn(6, 3, 20, 20).to(memory_format=layout)))  # noqa: B023
        assert told["act"]["dead_share"] == 0.25
        assert 0.25 < told["act"]["zero_share"] < 0.95


@pytest.mark.parametrize(
    ("shape", "first"),
    [
        ((64, 300), False),
        ((8, 128, 40), False),
        ((5, 7, 6, 9), False),
        ((16, 12, 20, 24), True),
        ((3, 6, 500), True),
    ],
)
def test_samples_hold_whole_rows_of_every_unit(shape: tuple[int, ...], first: bool) -> None:
    unit = 1 if first else len(shape) - 1
    units = shape[unit]
    view = [1] * len(shape)
    view[unit] = units
    values = torch.arange(units).view(view).expand(shape).contiguous().float()
    slot = SampleSlot(values, first, 8192)
    slot.target = torch.empty(slot.outer, slot.inner, slot.units)
    for turn in range(40):
        assert slot.take(values, turn)
        assert (slot.target == torch.arange(units)).all()
    assert slot.rows <= 255


def test_samples_move_over_the_batch() -> None:
    values = torch.arange(640.0)[:, None].expand(640, 100).contiguous()
    slot = SampleSlot(values, False, 8192)
    slot.target = torch.empty(slot.outer, slot.inner, slot.units)
    seen: set[float] = set()
    for turn in range(80):
        slot.take(values, turn)
        seen |= set(slot.target[..., 0].flatten().tolist())
    assert len(seen) == 640


class Functional(nn.Module):
    """Activations that are no modules, as most tutorials write them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc1 = nn.Linear(4 * 3 * 3, 10)
        self.drop = nn.Dropout(0.5)
        self.fc2 = nn.Linear(10, 6)
        self.fc3 = nn.Linear(6, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.max_pool2d(F.relu(self.conv(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        x = torch.tanh(self.fc2(self.drop(x)))
        return self.fc3(x)


def test_functions_are_seen_where_their_output_goes() -> None:
    model = Functional()
    x = torch.randn(20, 1, 8, 8)
    told = look(ActivationProbe(Names()), lambda: model(x))
    assert set(told) == {"conv", "fc1", "fc2", "fc3", "fc1.input", "drop.input", "fc3.input"}
    y = F.relu(model.fc1(F.max_pool2d(F.relu(model.conv(x)), 2).flatten(1)))
    assert told["drop.input"]["zero_share"] == pytest.approx((y == 0).float().mean().item())
    assert told["fc3.input"]["saturated_share"] is not None
    assert told["fc3.input"]["zero_share"] is None


def test_a_shared_module_is_seen_at_its_first_call_and_where_the_second_goes() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.c = (nn.Linear(4, 4) for _ in range(3))
            self.relu = nn.ReLU()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.c(self.relu(self.b(self.relu(self.a(x)))))

    model = Net()
    x = torch.randn(30, 4)
    told = look(ActivationProbe(Names()), lambda: model(x))
    first = torch.relu(model.a(x))
    second = torch.relu(model.b(first))
    assert told["relu"]["zero_share"] == pytest.approx((first == 0).float().mean().item())
    assert told["c.input"]["zero_share"] == pytest.approx((second == 0).float().mean().item())
    assert "b.input" not in told


def test_recurrent_attention_and_dictionary_outputs() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(9, 8)
            self.rnn = nn.LSTM(8, 8, batch_first=True)
            self.mix = nn.MultiheadAttention(8, 2, batch_first=True)

        def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
            h, _ = self.rnn(self.words(x))
            return {"out": self.mix(h, h, h)[0]}

    model = Net()
    probe = ActivationProbe(Names())
    x = torch.randint(0, 9, (3, 5))
    told = look(probe, lambda: model(x))
    assert {"words", "rnn", "mix"} <= set(told)
    y, _ = model.rnn(model.words(x))
    assert told["rnn"]["std"] == pytest.approx(y.std(unbiased=False).item(), rel=1e-4)
    assert probe.root_input is not None
    assert probe.root_input.dtype is torch.int64


def test_what_the_model_was_called_with() -> None:
    model = Plain(nn.ReLU())
    probe = ActivationProbe(Names())
    x = torch.randn(3, 4, requires_grad=True)
    look(probe, lambda: model(x))
    assert probe.root_input is not None
    assert probe.root_input.data_ptr() == x.data_ptr()
    assert not probe.root_input.requires_grad
    look(probe, lambda: None)
    assert probe.root_input is None

    class Keywords(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(4, 1)

        def forward(self, labels: torch.Tensor, input_ids: torch.Tensor) -> torch.Tensor:
            return self.fc(input_ids) + labels

    named = Keywords()
    probe = ActivationProbe(Names())
    look(probe, lambda: named(labels=torch.ones(3, 1), input_ids=torch.full((3, 4), 2.0)))
    assert probe.root_input is not None
    assert probe.root_input.mean() == 2


def test_the_main_model_stays_the_main_model() -> None:
    one, two = nn.Sequential(nn.Linear(2, 2)), nn.Sequential(nn.Linear(3, 3))
    probe = ActivationProbe(Names())

    def both(first: bool) -> None:
        if first:
            one(torch.zeros(1, 2))
        two(torch.zeros(1, 3))

    look(probe, lambda: both(True))
    assert probe.root_input is not None
    assert probe.root_input.shape == (1, 2)
    look(probe, lambda: both(False))
    assert probe.root_input is None


def test_modules_in_eval_mode_while_the_model_trains() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4), nn.Dropout(0.1), nn.ReLU())
    probe = ActivationProbe(Names())
    for _ in range(3):
        look(probe, lambda: model(torch.randn(5, 4)))
        assert probe.eval_modules == []
    model[1].eval()
    look(probe, lambda: model(torch.randn(5, 4)))
    assert probe.eval_modules == ["1"]
    model.eval()
    look(probe, lambda: model(torch.randn(5, 4)))
    assert probe.eval_modules == []


def test_autocast_is_noticed() -> None:
    model = Plain(nn.ReLU())
    probe = ActivationProbe(Names())

    def half() -> None:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            model(torch.randn(5, 4))

    for _ in range(4):
        assert "act" in look(probe, half)
        assert probe.autocast == "bfloat16"
    look(probe, lambda: model(torch.randn(5, 4)))
    assert probe.autocast is None


def test_devices_that_know_no_autocast() -> None:
    model = Plain(nn.ReLU()).to("meta")
    probe = ActivationProbe(Names())
    look(probe, lambda: model(torch.randn(5, 4, device="meta")))
    assert probe.autocast is None


def test_names_only_grow_and_unseen_modules_are_gaps() -> None:
    class Gated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a, self.b, self.on = nn.Linear(2, 2), nn.Linear(2, 2), False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.b(self.a(x)) if self.on else self.a(x)

    model = Gated()
    probe = ActivationProbe(Names())
    assert set(look(probe, lambda: model(torch.randn(5, 2)))) == {"a"}
    model.on = True
    assert set(look(probe, lambda: model(torch.randn(5, 2)))) == {"a", "b"}
    model.on = False
    seen = [set(look(probe, lambda: model(torch.randn(5, 2)))) for _ in range(4)]
    assert set().union(*seen) == {"a"}
    assert probe.names == ["a", "b"]


def test_batches_of_another_size() -> None:
    model = Plain(nn.ReLU())
    probe = ActivationProbe(Names())
    look(probe, lambda: model(torch.randn(20, 4)))
    assert "act" in look(probe, lambda: model(torch.randn(50, 4)))
    assert "act" not in look(probe, lambda: model(torch.randn(3, 4)))  # a small last batch
    assert "act" in look(probe, lambda: model(torch.randn(20, 4)))
    for _ in range(6):
        look(probe, lambda: model(torch.randn(3, 4)))
    for _ in range(32):  # small ones from now on: when it learns again, it finds out
        told = look(probe, lambda: model(torch.randn(3, 4)))
    assert "act" in told


def test_models_that_are_gone_make_room() -> None:
    probe = ActivationProbe(Names())
    stays = Plain(nn.ReLU(), 10)
    with torch.no_grad():
        stays.one.bias[:3] = -1000.0
    for _ in range(300):
        model = Plain(nn.ReLU())
        told = look(probe, lambda: (model(torch.randn(5, 4)), stays(torch.randn(100, 4))))  # noqa: B023
        assert sum(one["zero_share"] is not None for one in told.values()) == 2
    assert len(probe._watches) <= 12
    assert 0.3 in {one["dead_share"] for one in told.values()}


def test_only_calls_with_gradients_count() -> None:
    model = Plain(nn.ReLU())
    probe = ActivationProbe(Names())

    def validate() -> None:
        with torch.no_grad():
            model(torch.randn(5, 4))

    assert look(probe, validate) == {}


def test_frozen_and_checkpointed_parts_are_seen_too() -> None:
    class Net(nn.Module):
        def __init__(self, reentrant: bool) -> None:
            super().__init__()
            self.frozen = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
            self.inner = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
            self.reentrant = reentrant
            self.last = nn.Linear(4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            with torch.no_grad():
                x = self.frozen(x)
            return self.last(checkpoint(self.inner, x.requires_grad_(), use_reentrant=self.reentrant))

    for reentrant in (True, False):
        model = Net(reentrant)
        probe = ActivationProbe(Names())
        for _ in range(4):
            model.zero_grad()
            probe.arm()
            loss = model(torch.randn(5, 4)).sum()
            probe.disarm()
            loss.backward()
            names, found = probe.collect()
            told = dict(zip(names, found["activation_zero_share"], strict=True))
            assert told["inner.1"] is not None
            assert told["frozen.1"] is not None


def test_no_hook_is_left_after_a_call_or_an_error() -> None:
    class Breaks(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.on = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.fc(x)
            if self.on:
                raise ValueError("mine")
            return x

    model = Breaks()
    probe = ActivationProbe(Names())
    for turn in range(6):
        probe.arm()
        model.on = turn in (1, 4)
        if model.on:
            with pytest.raises(ValueError, match="mine"):
                model(torch.randn(3, 2))
        else:
            model(torch.randn(3, 2))
            assert hooks_in(model) == 0  # although still armed: it may be copied or saved now
            copy.deepcopy(model)
            pickle.dump(model.state_dict(), io.BytesIO())
        probe.disarm()
        assert hooks_in(model) == 0
        probe.collect()


def test_other_threads_and_transforms_are_let_be() -> None:
    model = Plain(nn.ReLU())
    probe = ActivationProbe(Names())

    def elsewhere() -> None:
        thread = threading.Thread(target=lambda: model(torch.randn(5, 4)))
        thread.start()
        thread.join()

    assert look(probe, elsewhere) == {}
    assert look(probe, lambda: torch.func.vmap(model)(torch.randn(5, 4))) == {}
    weights = dict(model.named_parameters())

    def loss(given: dict[str, torch.Tensor]) -> torch.Tensor:
        return torch.func.functional_call(model, given, (torch.randn(5, 4),)).sum()

    assert look(probe, lambda: torch.func.grad(loss)(weights)) == {}
    assert "act" in look(probe, lambda: model(torch.randn(5, 4)))


def test_transforms_inside_a_model_are_let_be() -> None:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.each = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
            self.last = nn.Linear(4, 1)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.last(torch.func.vmap(self.each)(x))

    model = Net()
    probe = ActivationProbe(Names())
    for _ in range(3):
        assert set(look(probe, lambda: model(torch.randn(5, 4)))) == {"last", "last.input"}


@pytest.mark.parametrize("how", ["function", "method", "inside"])
def test_compiled_models_are_let_be(how: str) -> None:
    graphs = []

    def backend(graph: torch.fx.GraphModule, _: object) -> Callable[..., Any]:
        graphs.append(graph)
        return graph.forward

    model: nn.Module = Plain(nn.ReLU())
    called = model
    if how == "function":
        called = torch.compile(model, backend=backend, fullgraph=True)
    elif how == "method":
        model.compile(backend=backend, fullgraph=True)
    else:
        called = nn.Sequential(torch.compile(model, backend=backend, fullgraph=True))
    names = Names()
    names.refresh([torch.optim.SGD(called.parameters(), 0.1)])
    probe = ActivationProbe(names)
    for turn in range(6):
        if turn % 2:
            assert look(probe, lambda: called(torch.randn(5, 4))) == {}
        else:
            called(torch.randn(5, 4))
    assert len(graphs) == 1
    torch._dynamo.reset()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::torch.jit.TracerWarning")
def test_tracing_gives_the_same_graph() -> None:
    model = Plain(nn.ReLU())
    plain = str(torch.jit.trace(model, torch.randn(5, 4)).graph)
    probe = ActivationProbe(Names())
    probe.arm()
    traced = str(torch.jit.trace(model, torch.randn(5, 4)).graph)
    probe.disarm()
    assert [line.split("=")[-1].split("(")[0] for line in traced.splitlines()] == [
        line.split("=")[-1].split("(")[0] for line in plain.splitlines()
    ]


def test_an_error_of_ours_is_told_at_collect_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Plain(nn.ReLU())
    probe = ActivationProbe(Names())

    def broken(*_: object) -> bool:
        raise ZeroDivisionError("ours")

    monkeypatch.setattr(SampleSlot, "take", broken)
    probe.arm()
    y = model(torch.randn(5, 4))
    probe.disarm()
    assert y.requires_grad
    assert torch.is_grad_enabled()
    with pytest.raises(ZeroDivisionError, match="ours"):
        probe.collect()


def test_spread_tells_how_much_hangs_on_the_sample() -> None:
    torch.manual_seed(0)
    model = nn.Sequential()
    model.add_module("layer", nn.Linear(4, 8))
    model.add_module("act", nn.Tanh())
    probe = ActivationProbe(Names())
    free = look(probe, lambda: model(torch.randn(100, 4)))["act"]["spread"]
    same = look(probe, lambda: model(torch.ones(100, 4)))["act"]["spread"]
    assert free is not None
    assert free > 0.3
    assert same == 0
