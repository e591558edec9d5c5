"""Models, losses and processes of every kind under recording."""

from __future__ import annotations

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


@script("inside.py")
def test_inside(both: Both) -> None:
    """What the sampled looks say is what the script itself measures."""
    seen(both, 20)
    for layer in ("first", "second", "last"):
        looked_at(both, f"grad_norm/{layer}", rf"(?m)^(\d+) {layer} grad (\S+)")
        looked_at(both, f"weight_norm/{layer}", rf"(?m)^(\d+) {layer} .* weight (\S+)")
        looked_at(both, f"update_ratio/{layer}", rf"(?m)^(\d+) {layer} .* ratio (\S+)")
    looked_at(both, "activation_zero_share/act", r"(?m)^(\d+) act zero (\S+)")
    looked_at(both, "activation_mean/act", r"(?m)^(\d+) act .* mean (\S+)")
    looked_at(both, "activation_saturated_share/squash", r"(?m)^(\d+) squash saturated (\S+)")
    looked_at(both, "target/top_share", r"(?m)^(\d+) y top (\S+)")
    looked_at(both, "target/distinct", r"(?m)^(\d+) y .* distinct (\S+)")
    looked_at(both, "input/std", r"(?m)^(\d+) x .* std (\S+)", within=0.1)
    looked_at(both, "output/std", r"(?m)^(\d+) out .* std (\S+)", within=0.1)


def looked_at(both: Both, name: str, pattern: str, *, within: float = 6e-4) -> None:
    told, found = dict(both.printed(pattern)), both.series(name)
    assert len(found) >= 3
    values = [told[step] for step in found]
    np.testing.assert_allclose(list(found.values()), values, rtol=within, atol=1e-6, err_msg=name)


@script("tied_weights.py", slow=True)
def test_tied_weights(both: Both) -> None:
    seen(both, 25)
    step_loss(both)
    check_printed(both, "grad_norm", rf"step (\d+) .* norm {NUMBER}")


@script("finetune_head.py", slow=True)
def test_finetune_head(both: Both) -> None:
    seen(both, 40)
    step_loss(both)
    assert sorted(both.series("lr/group1")) == list(range(21, 41))


@script("bf16_weights.py", slow=True)
def test_bf16_weights(both: Both) -> None:
    seen(both, 30)
    check_printed(both, "loss", rf"step (\d+): loss={NUMBER}")
    told = both.printed(rf"step (\d+): .* norm={NUMBER}")
    found = [both.series("grad_norm")[int(step)] for step, _ in told]
    np.testing.assert_allclose(found, [norm for _, norm in told], rtol=0.01)


@script("jit_model.py")
def test_jit_model(both: Both) -> None:
    seen(both, 20)
    step_loss(both)


@script("sparse_embedding.py", slow=True)
def test_sparse_embedding(both: Both) -> None:
    assert not both.events("probe_failed")
    assert len(both.facts["optimizers"]) == 2
    assert both.facts["ended"]["step"] == 25
    step_loss(both)


@script("averaged.py", after="load_everything.py")
def test_averaged(both: Both) -> None:
    seen(both, 32)
    assert not both.events("optimizer_never_stepped")
    told = both.printed(rf"epoch (\d) loss {NUMBER}")
    for epoch, loss in told:
        assert both.series("loss")[4 * int(epoch) + 4] == pytest.approx(loss, abs=2e-6)


@script("user_hooks.py")
def test_user_hooks(both: Both) -> None:
    seen(both, 12)
    step_loss(both)
    check_printed(both, "grad_norm", rf"step (\d+) .* norm {NUMBER}")


@script("many_losses.py", slow=True)
def test_many_losses(both: Both) -> None:
    seen(both, 27)
    step_loss(both)


@script("odd_modules.py")
def test_odd_modules(both: Both) -> None:
    seen(both, 15)
    step_loss(both)


@script("traced_models.py", slow=True)
def test_traced_models(both: Both) -> None:
    seen(both, 10)
    step_loss(both)


@script("freed.py")
def test_freed(both: Both) -> None:
    assert not both.events("probe_failed")


@script("kfold.py")
def test_kfold(both: Both) -> None:
    told = both.printed(rf"fold (\d) epoch (\d) loss {NUMBER} val_loss {NUMBER}")
    assert not both.events("probe_failed")
    assert len(both.runs) == 3
    for fold, epoch, loss, val_loss in told:
        series = both.runs[int(fold)].series
        assert series["loss"].values[int(epoch) * 10 - 1] == pytest.approx(loss, abs=2e-6)
        assert series["val/loss"].values[int(epoch) - 1] == pytest.approx(val_loss, abs=2e-6)


@script("threads.py", slow=True)
def test_threads(both: Both) -> None:
    assert not both.events("probe_failed")
    assert both.facts["ended"]["how"] == "finished"


@script("hogwild.py", alone=True, slow=True)
def test_hogwild(both: Both) -> None:
    """Children that train are recorded beside their parent, not into its file."""
    seen(both, 10)
    told = both.printed(rf"step (\d+) loss {NUMBER}")
    np.testing.assert_allclose([loss for _, loss in both.rows("loss")], [loss for _, loss in told], atol=2e-6)


@script("ddp_torchrun.py", processes=2)
def test_ddp_torchrun(both: Both) -> None:
    two_ranks(both)


def two_ranks(both: Both) -> None:
    assert both.facts["world_size"] == 2
    assert len(list(both.recording.glob("rank-*.jsonl"))) == 2
    for rank in (0, 1):
        told = both.printed(rf"step (\d+) loss {NUMBER}", file=f"rank{rank}.txt")
        found = both.series("loss" if not rank else "loss/rank1")
        np.testing.assert_allclose([found[int(s)] for s, _ in told], [v for _, v in told], atol=2e-6)


@script("fsdp2.py", processes=2, slow=True)
def test_fsdp2(both: Both) -> None:
    two_ranks(both)
    told = both.printed(rf"step (\d+) .* norm {NUMBER}", file="rank0.txt")
    norms = both.series("grad_norm")
    np.testing.assert_allclose([norms[int(s)] for s, _ in told], [v for _, v in told], atol=2e-6)


@script("ddp_spawn.py", alone=True, slow=True)
def test_ddp_spawn(both: Both) -> None:
    assert both.facts["ended"]["how"] == "finished"
    told = both.printed(rf"(?m)^(\d+) {NUMBER}$", file="spawned0.txt")
    found = both.series("loss")
    np.testing.assert_allclose([found[int(s)] for s, _ in told], [v for _, v in told], atol=2e-6)
