"""Steps that are not forward, backward, step: closures, scalers, compiled code, no optimizer."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
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


@script("lbfgs.py")
def test_lbfgs(both: Both) -> None:
    seen(both, 8)
    check_printed(both, "loss", rf"STEP: (\d+) loss: {NUMBER}")
    check_printed(both, "val/loss", rf"STEP: (\d+) .* test loss: {NUMBER}")


@script("closure_trainer.py")
def test_closure_trainer(both: Both) -> None:
    seen(both, 32)
    check_printed(both, "loss", rf"(?m)^(\d+) loss={NUMBER}")
    check_printed(both, "grad_norm", rf"(?m)^(\d+) .* grad={NUMBER}")
    check_printed(both, "val/loss", rf"step=(\d+) val_loss={NUMBER}")
    assert max(both.series("grad_norm_clipped").values()) <= 0.5 + 1e-6
    assert both.series("lr")[32] == pytest.approx(0.01 / 8)


@script("grad_scaler.py")
def test_grad_scaler(both: Both) -> None:
    """A skipped step has a row too; its number is that of the last step done."""
    told = both.printed(r"it (\d+) loss (\S+) norm (\S+) scale (\d+) skipped (\d)")
    assert both.facts["ended"]["step"] == 28
    assert not both.events("probe_failed")
    assert len(both.events("overflow")) == 2
    np.testing.assert_allclose([loss for _, loss in both.rows("loss")], [line[1] for line in told], rtol=2e-6)
    taken = [line for line in told if math.isfinite(line[2])]
    norms = [norm for _, norm in both.rows("grad_norm")]
    np.testing.assert_allclose(norms, [line[2] for line in taken], rtol=2e-6)
    scales = both.series("loss_scale")
    assert [scales[step] for step in (1, 5, 28)] == [65536, 32768, 131072]
    assert both.rows("skipped_steps")[-1] == (28, 2)
    assert both.facts["config"]["precision"] == "float16 autocast"


@script("grad_scaler_plain.py")
def test_grad_scaler_fused(both: Both) -> None:
    """The fused optimizer unscales and skips by itself, out of sight of everything outside it."""
    told = both.printed(r"(\d+) (\d+) loss=(\S+) norm=(\S+) scale=(\d+) next=(\d+)")
    taken = [line for line in told if line[4] == line[5]]
    assert len(taken) == 30
    assert not both.events("probe_failed")
    assert len(both.events("overflow")) == 2
    assert both.rows("skipped_steps")[-1][1] == 2
    losses, norms = both.series("loss"), both.series("grad_norm")
    for done, _, loss, norm, _, _ in taken:
        if done + 1 < len(taken) and taken[int(done)][1] != 4:  # the row of a skipped step bears its number
            assert losses[int(done)] == pytest.approx(loss, rel=2e-6)
            assert norms[int(done)] == pytest.approx(norm, rel=1e-5)


@script("optimizer_flavours.py", slow=True)
def test_optimizer_flavours(both: Both) -> None:
    """Seven trainings of eight steps each; an eighth fails at its first."""
    assert not both.events("probe_failed")
    assert both.facts["ended"]["how"] == "finished"
    told = both.printed(rf"final loss {NUMBER}")
    found = [run.series["loss"].values for run in both.runs]
    assert [len(losses) for losses in found[:7]] == [8] * 7
    np.testing.assert_allclose([losses[-1] for losses in found[:7]], [loss for (loss,) in told], atol=2e-6)


@script("optimizer_in_backward.py")
def test_optimizer_in_backward(both: Both) -> None:
    assert not both.events("probe_failed")
    assert both.facts["ended"]["step"] == 20
    told = dict(both.printed(rf"iteration (\d+) loss {NUMBER}"))
    losses = both.series("loss")
    found = [losses[int(step) + 1] for step in told]
    np.testing.assert_allclose(found, list(told.values()), atol=2e-6)


@script("checkpointing.py")
def test_checkpointing(both: Both) -> None:
    told = both.printed(rf"step=(\d+) loss={NUMBER}")
    losses = [loss for run in both.runs for loss in run.series["loss"].values]
    np.testing.assert_allclose(losses, [loss for _, loss in told], atol=2e-6)
    assert not both.events("probe_failed")


@script("sam.py", slow=True)
def test_sam(both: Both) -> None:
    seen(both, 20, optimizers=None)
    told = both.printed(rf"step (\d+) loss {NUMBER} perturbed {NUMBER}")
    for step, first, second in told:
        assert first - 2e-6 <= both.series("loss")[int(step)] <= second + 2e-6


@script("wgan_gp.py", slow=True)
def test_wgan_gp(both: Both) -> None:
    assert not both.events("probe_failed")
    assert len(both.facts["optimizers"]) == 2
    names = [name for name in both.run.series if name.startswith("loss")]
    values = {round(v, 5) for name in names for v in both.series(name).values()}
    told = both.printed(rf"d_loss {NUMBER} g_loss {NUMBER}")
    assert {round(d, 5) for d, _ in told} <= {v + e for v in values for e in (0, 1e-5, -1e-5)} | values
    assert any(abs(g - v) < 2e-6 for _, g in told for v in values)


@script("odd_backwards.py", slow=True)
def test_odd_backwards(both: Both) -> None:
    seen(both, 20)
    found = both.series("loss")
    for step, loss in both.printed(rf"step (\d+) (?:list|inputs) {NUMBER}"):
        assert found[int(step)] == pytest.approx(loss, abs=2e-6) or found[int(step)] < loss


@script("caught_errors.py", slow=True)
def test_caught_errors(both: Both) -> None:
    done = both.printed(rf"it \d+ step (\d+) loss {NUMBER}")
    assert not both.events("probe_failed")
    found = list(both.series("loss").values())
    for _, loss in done:
        assert any(abs(loss - value) < 2e-6 for value in found)


@script("custom_optimizer.py", slow=True)
def test_custom_optimizer(both: Both) -> None:
    seen(both, 30)
    check_printed(both, "loss", rf"\[ *(\d+)\] loss: {NUMBER}")
    assert set(both.series("lr").values()) == {3e-3}


@script("autograd_grad_optimizer.py", slow=True)
def test_autograd_grad_optimizer(both: Both) -> None:
    seen(both, 20)
    check_printed(both, "loss", rf"it (\d+) loss {NUMBER}")
    check_printed(both, "grad_norm", rf"it (\d+) .* norm {NUMBER}")
    assert not both.events("stale_gradients")


@script("autograd_grad.py", slow=True)
def test_autograd_grad(both: Both) -> None:
    no_steps(both)


@script("functional.py")
def test_functional(both: Both) -> None:
    no_steps(both)


@script("manual_sgd.py", slow=True)
def test_manual_sgd(both: Both) -> None:
    no_steps(both)


@script("numpy_only.py", alone=True)
def test_numpy_only(both: Both) -> None:
    no_steps(both)


@script("compile_model.py")
def test_compile_model(both: Both) -> None:
    seen(both, 30)
    step_loss(both)
    check_printed(both, "val/loss", rf"step (\d+) .* val_loss {NUMBER}")


@script("compile_fullgraph.py")
def test_compile_fullgraph(both: Both) -> None:
    seen(both, 25)
    step_loss(both)
    check_printed(both, "grad_norm", rf"step (\d+) .* norm {NUMBER}")


@script("compile_step.py", slow=True)
def test_compile_step(both: Both) -> None:
    assert both.facts["ended"]["how"] == "finished"
    assert not both.events("probe_failed")


@script("compile_optimizer.py", slow=True)
def test_compile_optimizer(both: Both) -> None:
    assert both.facts["ended"]["how"] == "finished"
    assert not both.events("probe_failed")


@script("compile_inductor.py", slow=True)
def test_compile_inductor(both: Both) -> None:
    seen(both, 40)
    step_loss(both)


def no_steps(both: Both) -> None:
    """Nothing that could be watched: the recording says so, and has what was printed."""
    assert both.facts["ended"]["how"] == "finished"
    assert both.facts["unseen"]
    assert not both.events("probe_failed")
    assert "loss" in both.run.series


@script("broken_loop.py")
def test_defects_of_a_loop_are_facts_and_events(both: Both) -> None:
    """What a file holds, what the loss hangs on, what is added up, in which mode it is measured."""
    reach = both.facts["reach"]
    assert len(reach["free"]) == 2
    assert reach["held"] == 4
    assert len(both.events("optimizer_state_not_loaded")) == 1
    assert both.facts["restored"][0]["missing"] == 0
    told = both.facts["accumulation"]
    assert told["backwards"] == told["batches"] == 36
    assert told["share"] == pytest.approx(1.0)
    assert len(both.events("evaluated_in_train_mode")) == 3
