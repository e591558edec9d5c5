"""How programs end, what else they do to their process, and trainings that go wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest

from .script_checks import NUMBER, Both, check_printed, seen, step_loss, unchanged
from .script_runs import Runs, run_ahead, script

pytest.importorskip("torch")


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with run_ahead(request, tmp_path_factory.mktemp("scripts")) as ahead:
        yield ahead


@pytest.fixture
def both(request: pytest.FixtureRequest, runs: Runs) -> Both:
    return unchanged(runs[request.param])


@script("main_module.py --out x --help -- -m", stdin="from standard input")
def test_main_module(both: Both) -> None:
    seen(both, 10)


@script("own_handlers.py", alone=True)
def test_own_handlers(both: Both) -> None:
    seen(both, 15, how="exception")
    step_loss(both)


@script("closes_files.py", slow=True)
def test_closes_files(both: Both) -> None:
    seen(both, 20)
    step_loss(both)


@script("graceful_interrupt.py", slow=True)
def test_graceful_interrupt(both: Both) -> None:
    seen(both, 10)
    step_loss(both)


@script("crash.py", alone=True)
def test_crash(both: Both) -> None:
    seen(both, 12, how="exception")
    step_loss(both)
    assert "bad batch at step 13" in both.facts["ended"]["text"]


@script("broken_lr.py")
def test_broken_lr(both: Both) -> None:
    seen(both, 40)
    ((first,),) = both.printed(r"first non-finite loss at step (\d+)")
    losses = both.series("loss")
    assert min(step for step, loss in losses.items() if not math.isfinite(loss)) == first
    assert both.events("nonfinite")[0]["step"] in (first - 1, first)


@script("broken_log0.py")
def test_broken_log0(both: Both) -> None:
    seen(both, 25)
    event = both.events("nonfinite")[0]
    assert event["step"] in (12, 13)
    assert event["data"]["batch"] == 13
    assert event["data"]["layer"] == "1", "the first layer behind the log"
    assert event["data"]["input"]["min"] == 0


@script("broken_zero_grad.py", slow=True)
def test_broken_zero_grad(both: Both) -> None:
    seen(both, 40)
    check_printed(both, "grad_norm", rf"step (\d+) .* norm {NUMBER}")
    assert both.events("stale_gradients")


@script("broken_frozen.py")
def test_broken_frozen(both: Both) -> None:
    seen(both, 30)
    told = str(both.facts) + str([line for line in both.lines if "event" in line])
    for layer in ("early", "forgotten", "unused"):
        assert layer in told


@script("broken_eval_mode.py")
def test_broken_eval_mode(both: Both) -> None:
    seen(both, 40)
    check_printed(both, "val/loss", rf"step (\d+) .* val_loss {NUMBER}")
    assert any(line.get("event", "").startswith("mode") for line in both.lines), both.events("mode")


@script("broken_dead_relu.py")
def test_broken_dead_relu(both: Both) -> None:
    seen(both, 40)
    zero = next(both.series(name) for name in both.run.series if name == "activation_zero_share/relu1")
    assert set(zero.values()) == {1.0}
    assert max(both.series("activation_saturated_share/sigmoid").values()) > 0.9
    assert max(both.series("grad_norm/fc1").values()) == 0
    assert any(name.startswith("input/") for name in both.run.series)


@script("broken_scheduler.py", slow=True)
def test_broken_scheduler(both: Both) -> None:
    seen(both, 24)
    check_printed(both, "lr", rf"step (\d+) .* lr {NUMBER}")
    assert both.events("lr_jump")
    assert any("scheduler" in line.get("event", "") for line in both.lines)


@script("leave.py exit", slow=True)
def test_exit(both: Both) -> None:
    left(both, "exit")


@script("leave.py message", alone=True, slow=True)
def test_exit_message(both: Both) -> None:
    left(both, "exit")


@script("leave.py interrupt", alone=True, slow=True)
def test_exit_interrupt(both: Both) -> None:
    left(both, "interrupted")


@script("leave.py terminate", slow=True)
def test_exit_terminate(both: Both) -> None:
    left(both, None)


@script("leave.py os_exit", slow=True)
def test_exit_os(both: Both) -> None:
    left(both, None)


@script("leave.py kill")
def test_exit_kill(both: Both) -> None:
    left(both, None)


def left(both: Both, how: str | None) -> None:
    """Complete to the last second, however it ended."""
    if how:
        seen(both, 12, how=how)
    step_loss(both)
