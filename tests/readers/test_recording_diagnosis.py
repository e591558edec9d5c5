"""What the detectors make of recordings: layers and second tellings raise no alarm, trouble still does."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.readers.tape import Tape
from tests.readers.truth import only_run
from traindx.core.nouns import Diagnosis, Run
from traindx.core.units import detectors
from traindx.engine import diagnose
from traindx.evidence.case import Case

STEPS, EPOCH = 1200, 100
# Layers called like what detectors look for in names.
LAYERS = [
    "memory_bank",
    "lr_encoder",
    "temperature",
    "reward_head",
    "cls_token",
    "kl",
    "pool1",
    "loss_d",
    "loss_g",
]


def healthy(folder: Path, *, inside: bool, seed: int = 0, ranks: int = 1) -> Run:
    """A classifier that learns; slow first steps, norms each fourth step, memory once a second."""
    for rank in range(ranks):
        tape = Tape(folder, rank)
        rng = np.random.default_rng(seed)
        tape.names(layer=LAYERS)
        for begin in range(0, STEPS, 50):
            at = np.arange(begin + 1, begin + 51)
            course = 0.4 + 1.9 * np.exp(-at / 250)
            seconds = rng.lognormal(np.log(0.02), 0.15, 50)
            seconds[at == 1] = 3.0
            seconds[at % EPOCH == 1] += 0.08
            tape.rows(
                50,
                loss=(course + 0.05 * rng.normal(size=50)).tolist(),
                lr=(1e-3 * np.minimum(at / 60, 1) * 0.5 * (1 + np.cos(np.pi * at / STEPS))).tolist(),
                grad_norm=[float(rng.lognormal(0, 0.2)) if n % 4 == 0 else None for n in at],
                step_s=seconds.tolist(),
                data_wait_s=(0.03 * seconds + 0.08 * (at % EPOCH == 1)).tolist(),
                forward_s=(0.3 * seconds).tolist(),
                rss_bytes=[float(2e9 * (1 - 0.3 * np.exp(-n / 60))) if n % 25 == 0 else None for n in at],
            )
            if inside:
                grown = [1.0 + at[-1] / 200] * len(LAYERS)
                tape.sample(layer={"grad_norm": grown, "weight_norm": grown, "update_ratio": grown})
            if at[-1] % EPOCH == 0:
                val = 0.45 + 1.8 * np.exp(-at[-1] / 250) + 0.01 * rng.normal()
                tape.line(**{"val/loss": float(val)})
                if inside:
                    tape.prints(
                        f"epoch {at[-1] // EPOCH} loss {course[-1]:.4f} lr 0.00{rng.integers(1, 9)} "
                        f"grad_norm {rng.lognormal():.3f} time {rng.lognormal():.2f}s val_loss {val:.4f}\n"
                    )
        tape.end(config={"lr": 1e-3, "optimizer": "adamw", "batch_size": 64})
    return only_run(traindx.read(folder))


def seen(diagnosis: Diagnosis) -> set[str]:
    found = {finding.id for problem in diagnosis.problems for finding in problem.findings}
    return found | {finding.id for finding in diagnosis.signs}


@pytest.mark.parametrize("seed", range(3))
def test_a_healthy_recording_is_healthy(tmp_path: Path, seed: int) -> None:
    diagnosis = diagnose(healthy(tmp_path / ".traindx" / "r", inside=True, seed=seed))
    assert diagnosis.verdict == "healthy"
    assert diagnosis.problems == ()


def test_secondary_series_change_nothing(tmp_path: Path) -> None:
    plain = diagnose(healthy(tmp_path / "a" / ".traindx" / "r", inside=False))
    run = healthy(tmp_path / "b" / ".traindx" / "r", inside=True, ranks=2)
    assert {"printed/lr", "weight_norm/memory_bank", "loss/rank1"} <= set(run.series)
    assert seen(diagnose(run)) == seen(plain)
    assert run.traits == frozenset()
    assert [curve.name for curve in Case(run).lr_groups] == []
    # All checks but those of several ranks and of what was printed, which only the second run has.
    of_curves = {
        unit.id
        for unit in detectors()
        if unit.area != "ranks" and not any("printed/" in need for need in unit.needs)
    }
    assert len(of_curves) > 200
    assert {c.check: c.status for c in diagnose(run).coverage if c.check in of_curves} == {
        c.check: c.status for c in plain.coverage if c.check in of_curves
    }


def test_main_curves_are_the_recorded_ones(tmp_path: Path) -> None:
    case = Case(healthy(tmp_path / ".traindx" / "r", inside=True))
    assert case.loss is not None
    assert case.val_loss is not None
    assert (len(case.loss), len(case.val_loss)) == (STEPS, STEPS // EPOCH)
    assert case.val_loss.x.tolist() == list(range(EPOCH, STEPS + 1, EPOCH))


def test_trouble_in_a_recording_is_found(tmp_path: Path) -> None:
    tape = Tape(tmp_path / ".traindx" / "r")
    loss = [*np.linspace(2.3, 1.2, 300).tolist(), *[float("nan")] * 40]
    tape.rows(340, loss=loss, lr=0.1, rss_bytes=np.linspace(1e9, 4e9, 340).tolist())
    tape.end("exception", "torch.OutOfMemoryError: CUDA out of memory.")
    found = seen(diagnose(only_run(traindx.read(tape.folder))))
    assert {"loss_nonfinite", "memory_creeps", "out_of_memory"} <= found


def test_a_thousand_series_are_named_and_diagnosed_quickly(tmp_path: Path) -> None:
    tape = Tape(tmp_path / ".traindx" / "r")
    layers = [f"layer{n // 4}.{n % 4}.conv{n % 3}" for n in range(100)]
    statistics = [f"activation_{n}" for n in ("mean", "std", "zero_share", "dead_share", "saturated_share")]
    statistics += ["grad_norm", "grad_zero_share", "weight_norm", "update_ratio", "grad_nonfinite"]
    tape.names(layer=layers)
    for n in range(250):
        tape.rows(10, loss=2.0 / (1 + n / 50), lr=0.1)
        tape.sample(layer={statistic: [0.5 + n / 500] * 100 for statistic in statistics})
    tape.end()
    began = time.process_time()
    run = only_run(traindx.read(tape.folder))
    diagnose(run)
    assert len(run.series) == 1002
    assert time.process_time() - began < 3.0
