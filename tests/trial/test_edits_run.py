"""An edit does to the script what the change does to the running training: both are run and compared."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any

import pytest
import torch

from tests.changes.arms import changed
from traindx.experiment.edit import Edited, Instruction, edit_for_all
from traindx.experiment.runtime.change import Change
from traindx.source.script import parse_script

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
x, noise = torch.randn(48, 6), torch.randn(48, 1)
y = x[:, :1].sin() + noise
train_x, train_y, val_x, val_y = x[:32], y[:32], x[32:], y[32:]
"""
SEQUENTIAL = (
    "model = nn.Sequential(nn.Linear(6, 16), nn.Tanh(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 1))\n"
)
MODULE = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.out = nn.Linear(6, 16), nn.Linear(16, 16), nn.Linear(16, 1)
        self.act = nn.ReLU()

    def forward(self, x):
        x = F.relu(self.a(x))
        return self.out(self.act(self.b(x)))


model = Net()
"""
LOOP = """\
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
history = []
for epoch in range(30):
    for start in range(0, 32, 16):
        optimizer.zero_grad()
        loss = F.mse_loss(model(train_x[start:start + 16]), train_y[start:start + 16])
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        val_loss = F.mse_loss(model(val_x), val_y).item()
    history.append(val_loss)
"""
FUNCTIONS = """\
def train_epoch(net, optimizer):
    for start in range(0, 32, 16):
        optimizer.zero_grad()
        loss = F.mse_loss(net(train_x[start:start + 16]), train_y[start:start + 16])
        loss.backward()
        optimizer.step()


def evaluate(net):
    with torch.no_grad():
        return F.mse_loss(net(val_x), val_y).item()


def main():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    for epoch in range(30):
        train_epoch(model, optimizer)
        score = evaluate(model)
        history.append(score)
    return history


history = main()
"""


def run(source: str) -> dict[str, Any]:
    """The names of a script after it has run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(compile(source, "train.py", "exec"), names)
    return names


def edited(source: str, *changes: str) -> str:
    edit = edit_for_all(parse_script(source), [Change.parse(one) for one in changes])
    assert isinstance(edit, Edited), edit
    ast.parse(edit.sources["train.py"])
    return edit.sources["train.py"]


def under(source: str, *changes: str) -> dict[str, Any]:
    """The names of a script that ran under changes; each of them must have changed something."""
    with changed(*changes) as training:
        names = run(source)
        training.end()
    assert not [log.failed for log in training.logs if log.failed]
    return names


def same_weights(one: dict[str, Any], other: dict[str, Any]) -> bool:
    pairs = zip(one["model"].parameters(), other["model"].parameters(), strict=True)
    return all(torch.allclose(a, b, rtol=1e-4, atol=1e-6) for a, b in pairs)


@pytest.mark.parametrize("loop", [LOOP, FUNCTIONS], ids=["one loop", "functions"])
@pytest.mark.parametrize(
    "changes",
    [
        ["replace_schedule kind=cosine steps=60"],
        ["replace_schedule kind=warm_restarts steps=15"],
        ["replace_schedule kind=cyclic steps=10 factor=3"],
        ["reduce_on_plateau patience=1 factor=0.5"],
        ["set_bias value=0.05"],
        ["set_weight_decay value=0.1"],
        ["set_momentum value=0.9"],
        ["swap_optimizer name=adamw lr=0.001"],
    ],
    ids=str,
)
def test_edit_trains_as_the_change_does(changes: list[str], loop: str) -> None:
    source = HEAD + SEQUENTIAL + loop
    plain, arm, new = run(source), under(source, *changes), run(edited(source, *changes))
    assert not same_weights(plain, new)
    assert same_weights(arm, new)
    assert arm["history"] == pytest.approx(new["history"], rel=1e-4)


@pytest.mark.parametrize("loop", [LOOP, FUNCTIONS], ids=["one loop", "functions"])
def test_early_stopping_keeps_the_best_weights(loop: str) -> None:
    source = HEAD + SEQUENTIAL + loop
    plain, arm, new = (
        run(source),
        under(source, "stop_early patience=4"),
        run(edited(source, "stop_early patience=4")),
    )
    best = min(plain["history"])
    assert plain["history"][-1] > best, "the script overfits"
    assert len(new["history"]) < len(plain["history"])
    assert min(new["history"]) == best
    assert same_weights(arm, new)
    assert arm["history"][-1] == best, "the rest of the run stays at the best weights"
    assert len(arm["history"]) == len(plain["history"])
    with torch.no_grad():
        loss = torch.nn.functional.mse_loss(new["model"](new["val_x"]), new["val_y"])
    assert float(loss) == pytest.approx(best)


def test_losses_of_the_training_data_are_no_validation() -> None:
    """A script that evaluates both parts stops by the validation loss alone."""
    both = LOOP.replace(
        "        val_loss = ", "        train_loss = F.mse_loss(model(train_x), train_y)\n        val_loss = "
    )
    assert both != LOOP
    source = HEAD + SEQUENTIAL + both
    arm, new = under(source, "stop_early patience=4"), run(edited(source, "stop_early patience=4"))
    assert same_weights(arm, new)
    assert arm["history"][-1] == min(new["history"])


@pytest.mark.parametrize("kind", ["batch", "layer"])
@pytest.mark.parametrize("model", [SEQUENTIAL, MODULE], ids=["sequential", "module"])
def test_the_norm_that_was_tried_is_written(kind: str, model: str) -> None:
    source = HEAD + model + LOOP
    change = f"insert_norm kind={kind}"
    arm, new = under(source, change), run(edited(source, change))
    name = {"batch": "BatchNorm1d", "layer": "LayerNorm"}[kind]
    assert sum(type(one).__name__ == name for one in new["model"].modules()) == 2
    # The parameters of the two are in another order.
    inputs = arm["train_x"]
    with torch.no_grad():
        assert torch.allclose(arm["model"](inputs), new["model"](inputs), atol=1e-5)


def test_an_activation_comes_with_its_initialisation() -> None:
    source = HEAD + SEQUENTIAL + LOOP
    changes = ["swap_activation to=relu", "reinitialise kind=he"]
    text = edited(source, *changes)
    assert "nn.ReLU()" in text
    assert "nn.Tanh()" not in text
    assert "kaiming_normal_(module.weight)" in text
    arm, new = under(source, *changes), run(text)
    for names in (arm, new):
        assert [type(one).__name__ for one in names["model"]].count("ReLU") == 2
        first = names["model"][2].weight
        assert float(first.detach().std()) == pytest.approx((2 / 16) ** 0.5, rel=0.25)


def gap(names: dict[str, Any]) -> float:
    """How much higher the validation loss is than the training loss."""
    with torch.no_grad():
        names["model"].eval()
        losses = [
            torch.nn.functional.mse_loss(names["model"](names[f"{part}_x"]), names[f"{part}_y"])
            for part in ("train", "val")
        ]
    return float(losses[1] - losses[0])


@pytest.mark.parametrize("loop", [LOOP, FUNCTIONS], ids=["one loop", "functions"])
@pytest.mark.parametrize("model", [SEQUENTIAL, MODULE], ids=["sequential", "module"])
def test_dropout_is_inserted_and_off_in_validation(model: str, loop: str) -> None:
    source = HEAD + model + loop
    text = edited(source, "insert_dropout value=0.4")
    new = run(text)
    net, inputs = new["model"], new["train_x"]
    net.train()
    assert not torch.equal(net(inputs), net(inputs)), "it drops in training"
    net.eval()
    assert torch.equal(net(inputs), net(inputs))
    assert "model.eval()" in text or "net.eval()" in text
    assert ".train()" in text
    arm, plain = under(source, "insert_dropout value=0.4"), run(source)
    assert not same_weights(arm, plain)
    assert gap(arm) < gap(plain)
    assert gap(new) < gap(plain)


def test_dropout_that_exists_is_not_inserted_again() -> None:
    source = HEAD + SEQUENTIAL.replace("nn.Tanh()", "nn.Dropout(0.1), nn.Tanh()", 1) + LOOP
    assert isinstance(
        edit_for_all(parse_script(source), [Change("insert_dropout", {"value": 0.2})]), Instruction
    )
    with changed("insert_dropout value=0.2") as training:
        run(source)
        training.end()
    assert training.logs[0].failed == "the model has dropout already: 0.1"


def test_dropout_leaves_the_random_numbers_of_the_script_alone() -> None:
    source = HEAD + SEQUENTIAL + LOOP + "after = torch.rand(3)\n"
    assert torch.equal(run(source)["after"], under(source, "insert_dropout value=0.4")["after"])


HALF = LOOP.replace(
    "        loss = F.mse_loss",
    '        with torch.autocast("cpu", dtype=torch.float16):\n'
    "            output = model(train_x[start:start + 16])\n"
    "        loss = 1e-9 * F.mse_loss",
).replace("F.mse_loss(model(train_x[start:start + 16])", "F.mse_loss(output.float()")
CLIPPED = HALF.replace(
    "        optimizer.step()",
    "        nn.utils.clip_grad_norm_(model.parameters(), 1e-9)\n        optimizer.step()",
)


@pytest.mark.parametrize("loop", [HALF, CLIPPED], ids=["plain", "clipped"])
def test_the_loss_of_half_precision_is_scaled(loop: str) -> None:
    """Gradients below what float16 holds are 0 without a scaler."""
    source = HEAD + SEQUENTIAL + loop.replace("lr=0.1", "lr=1e8")
    text = edited(source, "scale_loss")
    lines = text.splitlines()
    order = [
        next(i for i, line in enumerate(lines) if word in line)
        for word in (
            "GradScaler",
            "scaler.scale(loss).backward()",
            "scaler.step(optimizer)",
            "scaler.update()",
        )
    ]
    assert order == sorted(order)
    assert ("scaler.unscale_(optimizer)" in text) == (loop is CLIPPED)
    plain, arm, new = run(source), under(source, "scale_loss"), run(text)
    assert not same_weights(plain, new)
    assert same_weights(arm, new)


@pytest.mark.parametrize(
    ("source", "change"),
    [
        (LOOP.replace("val_loss", "q").replace("with torch.no_grad():", "if True:"), "stop_early"),
        (LOOP.replace("val_loss", "q").replace("with torch.no_grad():", "if True:"), "reduce_on_plateau"),
        (LOOP, "scale_loss"),
    ],
)
def test_what_is_not_certain_is_an_instruction(source: str, change: str) -> None:
    edit = edit_for_all(parse_script(HEAD + SEQUENTIAL + source), [Change.parse(change)])
    assert isinstance(edit, Instruction), edit
