"""Trainings in the styles users write: recording changes nothing, and sees what is there."""

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


@script("flat_mlp.py")
def test_flat_mlp(both: Both) -> None:
    seen(both, 120)
    step_loss(both)
    check_printed(both, "grad_norm", rf"step (\d+) .* grad norm {NUMBER}")
    assert set(both.series("lr").values()) == {0.05}
    assert both.run.settings["optimizer"] == "SGD"
    assert both.run.settings["momentum"] == 0.9


@script("argparse_main.py --epochs 4 --batch-size 32 --out w.pt --quiet")
def test_argparse(both: Both) -> None:
    seen(both, 64)
    losses = both.series("loss")
    for epoch, train, _ in both.printed(rf"Epoch (\d+)/4 \| train loss {NUMBER} .* val loss {NUMBER}"):
        mean = np.mean([losses[step] for step in range(int(epoch) * 16 - 15, int(epoch) * 16 + 1)])
        assert mean == pytest.approx(train, abs=2e-6)
    check_printed(both, "val/loss", rf"Epoch (\d+)/4 .* val loss {NUMBER}", per=16)
    assert both.run.settings["batch_size"] == 32
    assert both.run.settings["lr"] == 1e-3


@script("cnn_trainer.py")
def test_cnn_trainer(both: Both) -> None:
    seen(both, 64)
    losses = both.series("loss")
    pattern = rf"\[(\d)\] lr={NUMBER} train_loss={NUMBER} val_loss={NUMBER}"
    for epoch, lr, train, _ in both.printed(pattern):
        steps = range(int(epoch) * 16 - 15, int(epoch) * 16 + 1)
        assert np.mean([losses[step] for step in steps]) == pytest.approx(train, abs=2e-6)
        assert {both.series("lr")[step] for step in steps} == {lr}
    check_printed(both, "val/loss", rf"\[(\d)\] .* val_loss={NUMBER}", per=16)
    assert both.facts["schedulers"]


@script("lstm_lm.py")
def test_lstm_lm(both: Both) -> None:
    seen(both, 44)
    check_printed(both, "loss", rf"step (\d+) \| lr .*? \| loss {NUMBER}")
    check_printed(both, "grad_norm", rf"step (\d+) \| lr .*? \| norm {NUMBER}")
    check_printed(both, "lr", rf"step (\d+) \| lr {NUMBER}", digits=2)
    assert max(both.series("grad_norm_clipped").values()) == pytest.approx(0.25)
    valid = both.printed(rf"valid loss {NUMBER} .* at (\d+)")
    found = both.series("val/loss")
    # The script weighs its last, shorter batch less than a plain mean does.
    np.testing.assert_allclose([found[int(step)] for _, step in valid], [v for v, _ in valid], rtol=0.05)


@script("nano_gpt.py")
def test_nano_gpt(both: Both) -> None:
    seen(both, 30)
    norms = {step + 1: norm for step, norm in both.printed(rf"iter (\d+): .* norm {NUMBER}")}
    found = both.series("grad_norm")
    np.testing.assert_allclose([found[int(s)] for s in norms], list(norms.values()), rtol=1e-5)
    rates = {step + 1: lr for step, lr in both.printed(rf"iter (\d+): .* lr {NUMBER}")}
    np.testing.assert_allclose([both.series("lr")[int(s)] for s in rates], list(rates.values()), rtol=1e-5)
    # Printed is the last of four batches, recorded is their mean.
    last = {step + 1: loss for step, loss in both.printed(rf"iter (\d+): loss {NUMBER}")}
    np.testing.assert_allclose([both.series("loss")[int(s)] for s in last], list(last.values()), rtol=0.15)
    assert 2.0 < min(both.series("loss").values()) < max(both.series("loss").values()) < 3.6
    assert both.facts["config"]["precision"] == "bfloat16 autocast"


@script("gan.py")
def test_gan(both: Both) -> None:
    seen(both, 40, optimizers=2)
    told = both.printed(rf"\[(\d+)/40\] Loss_D: {NUMBER} Loss_G: {NUMBER}")
    for step, loss_d, loss_g in told:
        # Two backward calls, real and fake, of which the script prints the sum.
        assert both.series("loss/optimizerD")[int(step) + 1] == pytest.approx(loss_d / 2, abs=2e-6)
        assert both.series("loss/optimizerG")[int(step) + 1] == pytest.approx(loss_g, abs=2e-6)


@script("vae.py", slow=True)
def test_vae(both: Both) -> None:
    seen(both, 40)
    losses = both.series("loss")
    for epoch, mean in both.printed(rf"Epoch: (\d+) Average loss: {NUMBER}"):
        steps = range(int(epoch) * 8 - 7, int(epoch) * 8 + 1)
        assert sum(losses[step] for step in steps) / 512 == pytest.approx(mean, abs=1e-4)
    # A term of the loss is written by hand: it is so small (0.2 %) that torch's part may stand for the whole.
    assert both.rows("val/loss")


@script("gnn.py", slow=True)
def test_gnn(both: Both) -> None:
    seen(both, 30)
    check_printed(both, "loss", rf"Epoch: (\d+) loss_train: {NUMBER}")
    check_printed(both, "val/loss", rf"Epoch: (\d+) .* loss_val: {NUMBER}")


@script("diffusion.py", slow=True)
def test_diffusion(both: Both) -> None:
    seen(both, 40)
    step_loss(both)
    check_printed(both, "lr", rf"step (\d+) .* lr {NUMBER}", digits=8)


@script("contrastive.py", slow=True)
def test_contrastive(both: Both) -> None:
    seen(both, 25)
    step_loss(both)


@script("reinforce.py", slow=True)
def test_reinforce(both: Both) -> None:
    seen(both, 15)
    check_printed(both, "loss", rf"Episode (\d+)\tloss: {NUMBER}")


@script("multitask.py", slow=True)
def test_multitask(both: Both) -> None:
    seen(both, 30)
    check_printed(both, "loss", rf"step (\d+) total {NUMBER}")
    check_printed(both, "val/loss/cross_entropy", rf"step (\d+) .*\n.*validation: kind {NUMBER}")
    check_printed(both, "val/loss/mse_loss", rf"step (\d+) .*\n.*validation: .* size {NUMBER}")
    assert set(both.series("lr/group1").values()) == {5e-3}
    assert set(both.series("lr/group2").values()) == {2e-3}


@script("keras_like.py", slow=True)
def test_keras_like(both: Both) -> None:
    seen(both, 40)
    told = both.printed(rf"8/8 - loss: {NUMBER} - .* val_loss: {NUMBER}")
    losses, val = both.series("loss"), both.series("val/loss")
    for epoch, (loss, val_loss) in enumerate(told):
        steps = range(epoch * 8 + 1, epoch * 8 + 9)
        assert np.mean([losses[step] for step in steps]) == pytest.approx(loss, abs=1e-4)
        assert val[steps[-1]] == pytest.approx(val_loss, abs=1e-4)
    assert both.series("lr")[40] == pytest.approx(1e-2 * 0.7**4)


@script("permutation_batches.py", slow=True)
def test_permutation_batches(both: Both) -> None:
    seen(both, 40)
    losses = list(both.series("loss").values())
    for epoch, loss in both.printed(rf"epoch=(\d) loss={NUMBER}"):
        assert np.mean(losses[int(epoch) * 10 : int(epoch) * 10 + 10]) == pytest.approx(loss, abs=2e-6)


@script("three_steps.py")
def test_three_steps(both: Both) -> None:
    seen(both, 3)
    told = [loss for (loss,) in both.printed(r"(?m)^([\d.]+)$")]
    np.testing.assert_allclose(list(both.series("loss").values()), told, atol=1e-6)


@script("-m package_style.train 16", slow=True)
def test_package(both: Both) -> None:
    seen(both, 30)
    step_loss(both)


@script("shadowing/train.py")
def test_shadowing(both: Both) -> None:
    seen(both, 20)
    step_loss(both)


@script("loader_workers.py", alone=True)
def test_loader_workers(both: Both) -> None:
    seen(both, 18)
    step_loss(both)
    assert {loader["workers"] for loader in both.facts["loaders"]} == {1, 2}
    assert not list(both.recording.glob("rank-1*"))


@script("iterable_dataset.py", slow=True)
def test_iterable_dataset(both: Both) -> None:
    seen(both, 25)
    check_printed(both, "loss", rf"'step': (\d+), 'loss': {NUMBER}")


@script("many_loaders.py", slow=True)
def test_many_loaders(both: Both) -> None:
    seen(both, 29)
    step_loss(both)


@script("early_stopping.py", slow=True)
def test_early_stopping(both: Both) -> None:
    seen(both, 24)
    check_printed(both, "loss", rf"epoch (\d+): loss={NUMBER}", per=3)
    check_printed(both, "val/loss", rf"epoch (\d+): .* val_loss={NUMBER}", per=3)
    check_printed(both, "lr", rf"epoch (\d+): .* lr={NUMBER}", per=3, digits=8)


@script("resume.py --resume last.ckpt --until 20", before="resume.py", slow=True)
def test_resume(both: Both) -> None:
    seen(both, 10)
    assert not both.events("scheduler_before_optimizer")
    for step, loss, lr in both.printed(rf"step (\d+) loss {NUMBER} lr {NUMBER}"):
        assert dict(both.rows("loss"))[int(step) - 10] == pytest.approx(loss, abs=2e-6)
        assert dict(both.rows("lr"))[int(step) - 10] == pytest.approx(lr, abs=2e-6)


@script("progress_bar.py", slow=True)
def test_progress_bar(both: Both) -> None:
    seen(both, 30)
    check_printed(both, "loss", rf"Epoch (\d) last loss {NUMBER}", per=10)


@script("loggers.py")
def test_loggers(both: Both) -> None:
    seen(both, 30)
    check_printed(both, "loss", rf"stdout: step (\d+) loss {NUMBER}")
    assert any("tfevents" in link for link in both.facts["links"])
    assert any("metrics.csv" in link for link in both.facts["links"])


@script("-m package_style 8", slow=True)
def test_package_main(both: Both) -> None:
    seen(both, 30)
    step_loss(both)
