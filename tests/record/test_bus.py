"""The bus: one place for each function of torch, listeners in order, nothing left behind."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from traindx.experiment.runtime.change import Change  # noqa: E402
from traindx.experiment.runtime.in_process import arm  # noqa: E402
from traindx.observe import hooks  # noqa: E402
from traindx.observe.hooks.bus import BUS, CHANGE, RECORD, RESTORE, Bus, Channel  # noqa: E402
from traindx.observe.torch.places import listen  # noqa: E402

OURS = Path(inspect.getfile(Bus)).parents[1]
OWNERS = (
    torch,
    torch.autograd,
    torch.jit,
    torch.func,
    torch._C._nn,
    torch.nn.functional,
    torch.nn.utils,
    torch.nn.utils.clip_grad,
    torch.nn.Module,
    torch.Tensor,
    torch.amp.GradScaler,
    torch.amp.autocast_mode.autocast,
    torch.optim.Optimizer,
    torch.optim.SGD,
    torch.optim.lr_scheduler.LRScheduler,
    torch.optim.lr_scheduler.ReduceLROnPlateau,
    torch.utils.data.DataLoader,
    torch.utils.data.dataloader._SingleProcessDataLoaderIter,
)
# Every event that a change can ask for, at a place the recorder listens to as well.
CHANGES = (
    "scale_lr factor=0.5",
    "clip_norm limit=1",
    "loosen_clipping factor=2",
    "shuffle_data",
    "zero_inputs",
)


def replaced() -> Iterator[tuple[str, Any]]:
    for owner in OWNERS:
        for name, one in list(vars(owner).items()):
            if _is_ours(one):
                yield f"{owner.__name__}.{name}", one


def _is_ours(function: Any) -> bool:
    code = getattr(function, "__code__", None) if inspect.isfunction(function) else None
    return code is not None and Path(code.co_filename).is_relative_to(OURS)


def train() -> None:
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    data = torch.utils.data.TensorDataset(torch.randn(8, 3), torch.randn(8, 1))
    for inputs, targets in torch.utils.data.DataLoader(data, batch_size=4):
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(inputs), targets)
        loss.backward()
        torch.nn.utils.clip_grad_value_(model.parameters(), 0.5)
        optimizer.step()


def test_every_function_is_replaced_once_and_put_back(tmp_path: Path) -> None:
    assert not list(replaced())
    before = torch.autograd._engine_run_backward
    with arm(tmp_path / "rec", [Change.parse(one) for one in CHANGES], internals=True):
        train()
        now = dict(replaced())
        assert {"torch.jit.script", "DataLoader._get_iterator", "torch.nn.utils.clip_grad_value_"} <= set(now)
        assert torch.autograd._engine_run_backward is not before
        twice = [name for name, one in now.items() if _is_ours(one.__wrapped__)]
        assert not twice
    assert not list(replaced())
    assert torch.autograd._engine_run_backward is before
    optimizers = sys.modules["torch.optim.optimizer"]
    assert not optimizers._global_optimizer_pre_hooks
    assert not optimizers._global_optimizer_post_hooks


def test_listeners_come_in_order_however_late() -> None:
    heard: list[str] = []

    def hears(word: str) -> Callable[..., None]:
        return lambda *_: heard.append(word)

    stops = [
        listen("step_ends", hears("put back"), RESTORE),
        listen("step_ends", hears("recorded"), RECORD),
        listen("step_begins", hears("records"), RECORD),
        listen("step_begins", hears("changes"), CHANGE),
    ]
    try:
        train()
    finally:
        for stop in stops:
            stop()
    assert heard == ["changes", "records", "recorded", "put back"] * 2
    heard.clear()
    train()
    assert not heard


def test_a_batch_is_changed_before_it_is_recorded() -> None:
    seen: list[Any] = []

    def begin(iterator: Any) -> Callable[..., None]:
        del iterator
        return lambda batch, error: seen.append(error if batch is None else batch)

    stops = [
        listen("fetch", begin),
        listen("batch", lambda batch, _: [one + 100 for one in batch], CHANGE),
    ]
    data = torch.utils.data.TensorDataset(torch.arange(4.0))
    try:
        given = [float(batch[0]) for batch in torch.utils.data.DataLoader(data)]
    finally:
        for stop in stops:
            stop()
    assert given == [100, 101, 102, 103]
    assert [float(batch[0]) for batch in seen[:-1]] == given
    assert isinstance(seen[-1], StopIteration)


def test_a_function_that_somebody_kept_is_not_heard_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    stop = listen("mode", lambda *_: heard.append("first"))
    kept = torch.nn.Module.train
    monkeypatch.setattr(torch.nn.Module, "train", lambda self, mode=True: kept(self, mode))
    stop()
    stop = listen("mode", lambda *_: heard.append("second"))
    try:
        torch.nn.Linear(1, 1).eval()
    finally:
        stop()
    assert heard == ["second"]


def test_a_backward_that_fails_ends_as_one_that_failed() -> None:
    ends: list[bool] = []
    stop = listen("backward", lambda *_: ends.append)
    try:
        one = torch.ones(1, requires_grad=True)
        (one * 2).sum().backward()
        with pytest.raises(RuntimeError, match="does not require grad"):
            torch.ones(1).sum().backward()
    finally:
        stop()
    assert ends == [True, False]


def test_the_page_of_the_bus_names_every_event() -> None:
    listen("mode", print)()
    rows = [line.split("|")[1] for line in str(hooks.__doc__).splitlines() if line.startswith("| `")]
    named = {name for row in rows for name in re.findall(r"`([\w:.]+)`", row)}
    assert named - {"function:F.relu"} == {name for name in BUS.names if ":" not in name}


def test_a_source_that_cannot_begin_leaves_no_listener() -> None:
    bus, works = Bus(), False

    def install(event: Channel) -> Callable[[], None]:
        if not works:
            raise AttributeError("this version has no such function")
        installed.append(event)
        return installed.clear

    installed: list[Channel] = []
    bus.fill(("step",), install)
    with pytest.raises(AttributeError):
        bus.listen("step", print)
    works = True
    stop = bus.listen("step", repr)
    assert [one.calls for one in installed] == [(repr,)]
    stop()
    assert not installed
    with pytest.raises(LookupError):
        bus.listen("stepp", print)


def test_a_second_framework_fills_the_same_event() -> None:
    bus = Bus()
    heard: list[str] = []
    channels: list[Channel] = []

    def install(channel: Channel) -> Callable[[], None]:
        channels.append(channel)
        return channels.clear

    bus.fill(("step",), install)
    bus.listen("step", heard.append)
    bus.fill(("step",), install)
    for channel in channels:
        for call in channel.calls:
            call("stepped")
    assert heard == ["stepped", "stepped"]
