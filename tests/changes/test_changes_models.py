"""Changes of models, losses and data against edits by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from .arms import Tensors, arm, data, mlp, same, weights

Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def fit(
    model: Callable[[], nn.Module] = mlp,
    loss: Loss | str = "cross_entropy",
    x: torch.Tensor | None = None,
    y: torch.Tensor | None = None,
    steps: int = 6,
    lr: float = 0.1,
    modes: bool = False,
) -> tuple[Tensors, list[float]]:
    torch.manual_seed(0)
    inputs, labels = data()
    inputs, labels = inputs if x is None else x, labels if y is None else y
    net = model()
    optimizer = torch.optim.SGD(net.parameters(), lr=lr)
    if isinstance(loss, str):
        loss = getattr(functional, loss)
    losses = []
    for _ in range(steps):
        if modes:
            net.train()
        value = loss(net(inputs), labels)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        losses.append(value.item())
        if modes:
            net.eval()
        with torch.no_grad():
            losses.append(loss(net(inputs), labels).item())
    return weights(net), losses


def stack(*layers: Callable[[], nn.Module]) -> Callable[[], nn.Module]:
    return lambda: nn.Sequential(*(make() for make in layers))


def linear(a: int, b: int) -> Callable[[], nn.Module]:
    return lambda: nn.Linear(a, b)


class Functional(nn.Module):
    """Activations as functions of every kind, a gate, and a sigmoid at the end."""

    def __init__(self, act: Callable[[torch.Tensor], torch.Tensor] | None = None) -> None:
        super().__init__()
        self.a, self.b, self.c, self.d = nn.Linear(4, 8), nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 1)
        self.act = act

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.act(self.a(x)) if self.act else functional.relu(self.a(x))
        x = self.act(self.b(x)) if self.act else self.b(x).tanh()
        x = self.c(x)
        x = x * torch.sigmoid(x)
        return torch.sigmoid(self.d(x)).squeeze(1)


def dropping(p: float) -> Callable[[], nn.Module]:
    return stack(linear(4, 8), lambda: nn.Dropout(p), linear(8, 3))


def yes(labels: torch.Tensor) -> torch.Tensor:
    return (labels == 0).float()


LABELS = data()[1]
FLAT: Loss = lambda output, target: functional.binary_cross_entropy_with_logits(output.flatten(), target)  # noqa: E731
COUNTS = torch.bincount(LABELS, minlength=3).float()


@pytest.mark.parametrize(
    ("change", "script", "by_hand"),
    [
        (
            "pass_logits",
            {"model": stack(linear(4, 3), lambda: nn.Softmax(1))},
            {"model": stack(linear(4, 3))},
        ),
        (
            "pass_logits",
            {"model": stack(linear(4, 1), nn.Sigmoid), "loss": FLAT, "y": yes(LABELS)},
            {"model": stack(linear(4, 1)), "loss": FLAT, "y": yes(LABELS)},
        ),
        (
            "pass_logits",
            {"model": stack(linear(4, 3), lambda: nn.Softmax(1)), "loss": "nll_loss"},
            {"model": stack(linear(4, 3), lambda: nn.LogSoftmax(1)), "loss": "nll_loss"},
        ),
        (
            "pass_logits",
            {"model": stack(linear(4, 3)), "loss": "nll_loss"},
            {"model": stack(linear(4, 3), lambda: nn.LogSoftmax(1)), "loss": "nll_loss"},
        ),
        ("set_dropout value=0.1", {"model": dropping(0.7)}, {"model": dropping(0.1)}),
        ("set_dropout value=0.7", {"model": dropping(0.0)}, {"model": dropping(0.7)}),
        (
            "swap_activation to=leaky_relu",
            {"model": stack(linear(4, 8), nn.ReLU, linear(8, 3))},
            {"model": stack(linear(4, 8), nn.LeakyReLU, linear(8, 3))},
        ),
        (
            "swap_activation to=relu",
            {"model": stack(linear(4, 8), nn.Sigmoid, linear(8, 8), nn.Tanh, linear(8, 3))},
            {"model": stack(linear(4, 8), nn.ReLU, linear(8, 8), nn.ReLU, linear(8, 3))},
        ),
        (
            "swap_activation to=gelu",
            {"model": Functional, "loss": "binary_cross_entropy", "y": yes(LABELS)},
            {
                "model": lambda: Functional(functional.gelu),
                "loss": "binary_cross_entropy",
                "y": yes(LABELS),
            },
        ),
    ],
)
def test_a_change_is_the_edit_by_hand(change: str, script: dict[str, Any], by_hand: dict[str, Any]) -> None:
    ran = arm(fit, change, **script)
    assert not ran.failed, ran.failed
    assert ran.said
    edited = fit(**by_hand)
    assert ran.result[1] == edited[1]
    assert same(ran.result[0], edited[0])
    assert ran.result[1] != fit(**script)[1]


def test_what_was_swapped_is_told() -> None:
    given: dict[str, Any] = {"loss": "binary_cross_entropy", "y": yes(LABELS)}
    ran = arm(fit, "swap_activation to=gelu", model=Functional, **given)
    assert ran.said == ["Functional: 1 x relu -> gelu, 1 x tanh -> gelu"]


def test_inputs_are_normalised() -> None:
    x = data()[0] * torch.tensor([100.0, 1.0, 0.01, 0.0]) + 50
    ran = arm(fit, "normalise_inputs", x=x)
    deviation = torch.tensor([*x.double().std(0, correction=0)[:3].tolist(), 1.0]).double()
    by_hand = ((x.double() - x.double().mean(0)) / deviation).float()
    torch.testing.assert_close(ran.result[1], fit(x=by_hand)[1], rtol=1e-4, atol=1e-4)
    assert "4 features with means" in ran.said[0]


def test_inputs_of_other_samples() -> None:
    """As bad as chance, in training; validation sees its own."""
    ran = arm(fit, "shuffle_inputs", steps=100, lr=0.5)
    plain = fit(steps=100, lr=0.5)[1]
    assert ran.result[1][-2] > 5 * plain[-2]
    assert ran.said == ["input (4 each) of Sequential is another sample's"]


def test_rare_classes_weigh_more() -> None:
    x, y = data()
    y = torch.where(torch.arange(64) < 60, 0, 1)
    weight = 64 / (2 * torch.tensor([60.0, 4.0]))
    losses: Loss = lambda output, target: functional.cross_entropy(  # noqa: E731
        output, target, weight=weight if output.requires_grad else None
    )
    ran = arm(fit, "weight_classes", model=stack(linear(4, 2)), x=x, y=y)
    assert ran.result[1] == pytest.approx(fit(model=stack(linear(4, 2)), x=x, y=y, loss=losses)[1])
    assert ran.said == ["classes seen 360, 24 times weigh 0.533 to 8 in cross_entropy"]
    ran = arm(fit, "weight_classes", model=stack(linear(4, 1)), x=x, y=y.float(), loss=FLAT)
    assert ran.said == ["positives (6.2% of the targets) weigh 15 in binary_cross_entropy_with_logits"]


def test_weights_drawn_anew() -> None:
    def tiny() -> nn.Module:
        net = mlp()
        for one in net.parameters():
            nn.init.constant_(one, 1e-5)
        return net

    ran = arm(fit, "reinitialise kind=he", model=tiny, steps=40)
    assert "56 weights of 2 tensors drawn by he: deviations" in ran.said[0]
    assert ran.result[1][-1] < 0.9 * fit(model=tiny, steps=40)[1][-1]


def test_a_norm_between_layer_and_activation() -> None:
    found = []

    def script() -> None:
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 3))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        before = [one.clone() for one in net.buffers()]
        assert before == []
        for _ in range(3):
            optimizer.zero_grad()
            functional.cross_entropy(net(data()[0]), data()[1]).backward()
            optimizer.step()
        found.extend(net.modules())
        held = [one for group in optimizer.param_groups for one in group["params"]]
        assert len(held) == 10
        assert len(optimizer.state) == 10

    ran = arm(script, "insert_norm")
    assert ran.said == ["Sequential: 2 x BatchNorm1d inserted"]
    norms = [one for one in found if isinstance(one, nn.BatchNorm1d)]
    assert [one.num_batches_tracked.item() for one in norms] == [3, 3]


class Unregistered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = [nn.Linear(4, 8), nn.ReLU()]
        self.head = nn.Linear(8, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.hidden:
            x = layer(x)
        return self.head(x)


class Registered(Unregistered):
    def __init__(self) -> None:
        super().__init__()
        self.hidden = nn.ModuleList(self.hidden)  # type: ignore[assignment]


def test_parameters_nobody_trains() -> None:
    ran = arm(fit, "train_all_parameters", model=Unregistered)
    assert ran.result[1] == fit(model=Registered)[1]
    assert "2 of 4 parameters behind the loss (40 numbers) were in no optimizer" in ran.said[0]


def test_modes() -> None:
    """As if train() and eval() stood where they belong; the first call shows which are which."""

    def always_training() -> nn.Module:
        return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 3))

    ran = arm(fit, "force_modes", model=always_training)
    assert ran.result[1] == fit(model=always_training, modes=True)[1]
    assert ran.said == [
        "Sequential is put into eval mode where it does not train (1 layers differ)",
        "Sequential is put into training mode where it trains (1 layers differ)",
    ]


def test_modes_without_no_grad() -> None:
    """Validation that records gradients is known by what becomes of its results."""

    def script(modes: bool = False) -> list[float]:
        torch.manual_seed(0)
        x, y = data()
        net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 3))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        seen = []
        for epoch in range(6):
            if modes:
                net.train()
            loss = functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if modes and epoch > 1:
                net.eval()
            seen.append(net(x)[0, 0].item())
        return seen

    assert arm(script, "force_modes").result == script(modes=True)


def loaded(
    size: int = 8, shuffle: bool = False, half: bool = False, workers: int = 0, epochs: int = 2
) -> tuple[list[torch.Tensor], list[torch.Tensor], list[Any]]:
    torch.manual_seed(0)
    x, y = data()
    net = mlp()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    train_loader = DataLoader(TensorDataset(x, y), size, shuffle=shuffle, num_workers=workers)
    val_loader = DataLoader(TensorDataset(x, y), batch_size=size)
    scaler = torch.amp.GradScaler("cpu", enabled=half)
    seen, valid, kinds = [], [], []
    for _ in range(epochs):
        for inputs, labels in train_loader:
            seen.append(inputs)
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=half):
                output = net(inputs)
                loss = functional.cross_entropy(output, labels)
            kinds.append(output.dtype)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        for inputs, _ in val_loader:
            valid.append(inputs)
            with torch.no_grad():
                net(inputs)
    return seen, valid, kinds


def test_data_in_random_order() -> None:
    seen, valid, _ = arm(loaded, "shuffle_data").result
    first, second = torch.cat(seen[:8]), torch.cat(seen[8:])
    assert not torch.equal(first, data()[0])
    assert not torch.equal(first, second)
    assert torch.equal(first.sort(0).values, data()[0].sort(0).values)
    assert torch.equal(torch.cat(valid[:8]), data()[0])
    assert arm(loaded, "shuffle_data", shuffle=True).failed == ["the DataLoader shuffles already"]


def test_another_batch_size() -> None:
    ran = arm(loaded, "set_batch_size value=32")
    seen, valid, _ = ran.result
    assert {len(one) for one in seen} == {32}
    assert {len(one) for one in valid} == {8}
    assert ran.said == ["batch size 8 -> 32"]
    assert arm(loaded, "set_batch_size value=8").failed == ["the batch size is 8 already"]


def test_workers_give_the_same_data() -> None:
    ran = arm(loaded, "set_workers value=1", epochs=1)
    assert same(ran.result[0], loaded(epochs=1)[0])
    assert ran.said == ["workers 0 -> 1"]


def test_precision() -> None:
    ran = arm(loaded, "full_precision", half=True)
    assert set(ran.result[2]) == {torch.float32}
    assert ran.said == ["loss scaling is off", "autocast to bfloat16 is off"]
    ran = arm(loaded, "bf16_autocast")
    assert ran.said == ["Sequential runs under autocast to bfloat16"]
    assert set(ran.result[2]) == {torch.float32}
    assert arm(fit, "bf16_autocast").result[1] == pytest.approx(fit()[1], rel=0.02)


def test_half_precision_weights_become_whole() -> None:
    def script() -> set[torch.dtype]:
        net = mlp().to(torch.bfloat16).half()
        output = net(data()[0].to(dtype=torch.float16))
        return {output.dtype, net[0].weight.dtype}

    assert arm(script, "full_precision").result == {torch.float32}


def test_everything_at_once() -> None:
    """Changes compose: none breaks another."""
    changes = (
        "scale_lr factor=0.5",
        "warm_up steps=3",
        "clip_norm limit=0.01",
        "set_weight_decay value=0.1",
        "swap_activation to=gelu",
        "insert_norm kind=layer",
        "normalise_inputs",
        "reinitialise kind=xavier",
        "shuffle_labels",
        "set_batch_size value=16",
        "accumulate batches=2",
    )
    ran = arm(loaded, *changes)
    assert not ran.failed, ran.failed
    assert {text.partition(":")[0] for text in ran.said} >= {"Sequential"}
    assert len(ran.said) >= len(changes)


@pytest.mark.filterwarnings("ignore:`torch.jit")
def test_what_only_stands_for_tensors_is_left_alone() -> None:
    """Under vmap and grad transforms, and while torch.jit traces."""

    def script() -> tuple[torch.Tensor, torch.Tensor]:
        torch.manual_seed(0)
        net = mlp()
        x, y = data()
        held = dict(net.named_parameters())

        def one(inputs: torch.Tensor, label: torch.Tensor) -> torch.Tensor:
            output = torch.func.functional_call(net, held, (inputs[None],))
            return functional.cross_entropy(output, label[None])

        torch.func.vmap(one)(x, y)
        traced = torch.jit.trace(net, x, check_trace=False)
        return net(x), traced(x)

    plain, traced = arm(script, "zero_inputs", "shuffle_labels", "normalise_inputs").result
    assert torch.equal(plain, traced)
    assert torch.equal(plain[:1].expand_as(plain), plain)


def test_recomputed_calls_are_the_same_calls() -> None:
    """A checkpointed part that runs again in the backward pass is no model of its own."""

    def script() -> list[float]:
        torch.manual_seed(0)
        first, last = nn.Linear(4, 8), nn.Linear(8, 3)

        class Net(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.first, self.last = first, last

            def forward(self, x: torch.Tensor) -> torch.Tensor:
                part = torch.utils.checkpoint.checkpoint(self.first, x, use_reentrant=False)
                return self.last(part.relu())

        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        losses = []
        for _ in range(3):
            loss = functional.cross_entropy(net(data()[0] * 9), data()[1])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    ran = arm(script, "normalise_inputs", "reinitialise kind=he", "swap_activation to=gelu")
    assert len(ran.said) == 3
    assert ran.said[1].startswith("Net: 56 weights of 2 tensors")
    assert ran.result == sorted(ran.result, reverse=True)
