"""PNGs of a diagnosis, and what is drawn in them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.diagnoses import EVIL, broken, curve, evil, healthy, run_of, short_run
from tests.test_html import HOSTILE, hard_runs
from traindx.core.nouns import Diagnosis, Finding, Problem, Run
from traindx.evidence.case import Case
from traindx.report.curves import broken_steps, limits, moving_average, value_at, wants_log
from traindx.report.diagnosis_plots import pictures, write_diagnosis_plots
from traindx.report.marks import best_checkpoint, lr_marks, placed
from traindx.report.panels import main_panels
from traindx.report.to_png import drawn, file_name


def endings(diagnosis: Diagnosis) -> list[str]:
    return [ending for ending, _ in pictures(diagnosis)]


def key(diagnosis: Diagnosis, ending: str) -> list[str]:
    """The labels in the key of a plot."""
    figure = drawn(dict(pictures(diagnosis))[ending])
    return [text.get_text() for text in figure.legends[0].get_texts()]


def test_pictures_are_written(tmp_path: Path) -> None:
    written = write_diagnosis_plots([broken(), healthy(), broken()], tmp_path)
    assert [path.name for path in written] == [
        "diverged.log-loss.png",
        "diverged.log-lr.png",
        "diverged.log-gap.png",
        "diverged.log-gradients.png",
        "runs-healthy-metrics.csv-loss.png",
        "runs-healthy-metrics.csv-gap.png",
        "diverged.log-2-loss.png",
        "diverged.log-2-lr.png",
        "diverged.log-2-gap.png",
        "diverged.log-2-gradients.png",
    ]
    for path in written:
        assert path.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
        assert 10_000 < path.stat().st_size < 400_000


def test_only_what_was_logged_is_drawn() -> None:
    assert endings(short_run()) == ["loss"]
    base = healthy()
    assert endings(replace(base, run=run_of())) == []
    assert endings(replace(base, run=run_of(curve("reward", [1, 2, 3])))) == ["curve"]
    assert endings(replace(base, run=run_of(curve("lr", [1, 2, 3])))) == ["curve"]
    with_lr = run_of(curve("loss", [3, 2, 1]), curve("lr", [1, 1, 1]), curve("grad_norm", [1, 2, 3]))
    assert endings(replace(base, run=with_lr)) == ["loss", "lr", "gradients"]


@pytest.mark.parametrize("text", [EVIL, HOSTILE, "$x$", "..", "", "a" * 500])
def test_names_from_logs_do_no_harm(text: str, tmp_path: Path) -> None:
    written = write_diagnosis_plots([evil(text)], tmp_path)
    assert written
    for path in written:
        assert path.parent == tmp_path
        assert path.is_file()
        assert len(path.name) < 110


def test_hard_curves_can_be_drawn(tmp_path: Path) -> None:
    written = write_diagnosis_plots((replace(short_run(), run=run) for run in hard_runs()), tmp_path)
    assert len(written) >= 6


def test_what_was_seen_is_in_the_key() -> None:
    labels = key(broken(), "loss")
    assert labels[0].startswith("loss, moving average of ")
    assert "val/loss" in labels
    assert "onset: NaN or Inf" in labels or "onset: Nonfinite" in labels
    assert any(label.endswith("values NaN or Inf") for label in labels)
    assert "best checkpoint" in labels
    assert not any("Slow" in label for label in labels)  # seen on another curve


def test_clipping_is_drawn_when_it_is_known() -> None:
    run = run_of(curve("loss", np.linspace(2, 1, 30)), curve("grad_norm", np.linspace(1, 9, 30)))
    assert "clipped at 2.5" in key(replace(healthy(), run=replace(run, settings={"clip": 2.5})), "gradients")
    for nothing in ({}, {"clip": 0.0}, {"clip": None}, {"clip": "yes"}):
        labels = key(replace(healthy(), run=replace(run, settings=nothing)), "gradients")  # type: ignore[arg-type]
        assert not any("clipped" in label for label in labels)


def test_the_gap_is_told() -> None:
    loss = 2 - np.minimum(np.arange(100.0), 60) / 100
    run = run_of(curve("loss", loss), curve("val/loss", loss + 0.5))
    assert any(label.startswith("gap, 0.5 at step 99") for label in key(replace(healthy(), run=run), "gap"))
    better = run_of(curve("loss", loss), curve("val/loss", loss - 0.5))
    labels = key(replace(healthy(), run=better), "gap")
    assert any(label.startswith("validation better by 0.5") for label in labels)


def test_spikes_and_stretches_are_marked_on_their_own_curve() -> None:
    run = run_of(curve("loss", np.linspace(2, 1, 60)), curve("grad_norm", np.linspace(1, 9, 60)))
    spikes = Finding("Spikes.", "loss_spike", "low", 9.0, series="loss", marks=(9.0, 19.0), id="loss_spikes")
    rising = Finding("Rises.", "exploding_gradients", "low", 5.0, 50.0, "grad_norm", id="grad_norm_grows")
    problem = Problem("loss_spike", (), "low", None, "Seen.", (spikes, rising), (), 1.0)
    diagnosis = replace(broken(), run=run, problems=(problem,))
    on_loss, on_norm = set(key(diagnosis, "loss")), set(key(diagnosis, "gradients"))
    assert len(on_loss) == len(on_norm) == 2
    assert not on_loss & on_norm


def lr_run(values: object) -> Case:
    return Case(run_of(curve("lr", values)))


def told(case: Case) -> list[tuple[str, float]]:
    return [(mark.title, mark.step) for mark in lr_marks(case)]


def test_schedules_without_events_have_no_marks() -> None:
    steps = np.arange(200.0)
    for values in (
        np.full(200, 0.1),
        1 - steps / 199,  # linear to zero
        np.cos(steps / 199 * np.pi / 2),
        0.9**steps,
        np.array([1e-3, 1e-4]),
    ):
        assert told(lr_run(values)) == []


def test_lr_events_are_found() -> None:
    steps = np.arange(100.0)
    assert told(lr_run(np.where(steps < 50, 0.1, 0.01))) == [("lr drop", 50)]
    warm = np.concatenate([np.linspace(0, 1, 11), np.linspace(1, 0, 60)[1:]])
    assert told(lr_run(warm)) == [("end of warm-up", 10)]
    cosine = 0.5 * (1 + np.cos(np.pi * (steps % 25) / 25))
    found = told(lr_run(cosine))
    assert [step for title, step in found if title == "lr rise"] == [25, 50, 75]
    triangle = np.abs((steps % 40) / 20 - 1)
    assert [step for title, step in told(lr_run(triangle)) if title == "lr restart"] == [20, 60]


def test_marks_of_lr_are_not_too_many() -> None:
    assert len(told(lr_run(np.resize([1.0, 0.1], 400)))) <= 12


def test_best_checkpoint_is_the_lowest_validation_loss() -> None:
    run = run_of(curve("loss", [3, 2, 1]), curve("val/loss", [3.0, 1.0, np.nan, 2.0]))
    best = best_checkpoint(Case(run))
    assert best is not None
    assert (best.step, best.series) == (1, "val/loss")
    assert best.text == "Best val/loss 1 at step 1; the last one is 2."
    assert best_checkpoint(Case(run_of(curve("loss", [3, 2, 1])))) is None


def slow_average(values: list[float], at: int, half: int) -> float:
    reach = min(half, at, max(len(values) - 1 - at, half // 2))
    window = sorted(values[at - reach : at + reach + 1])
    cut = len(window) // 4
    middle = window[cut : len(window) - cut]
    return sum(middle) / len(middle)


@given(st.lists(st.floats(-1e6, 1e6), min_size=24, max_size=300))
def test_moving_average_against_a_slow_one(values: list[float]) -> None:
    made = moving_average(np.arange(float(len(values))), np.asarray(values))
    assert made is not None
    steps, means, window = made
    assert window % 2 == 1
    for step, mean in zip(steps.tolist(), means.tolist(), strict=True):
        assert mean == pytest.approx(slow_average(values, int(step), window // 2), abs=1e-6)


def test_moving_average_passes_over_spikes_and_holes() -> None:
    values = np.ones(100_000)
    values[::1000], values[5::1000] = 1e9, np.nan
    made = moving_average(np.arange(values.size, dtype=float), values)
    assert made is not None
    assert np.allclose(made[1][1:-1], 1)
    assert made[0].size <= 400
    assert moving_average(np.arange(5.0), np.ones(5)) is None
    assert moving_average(np.arange(50.0), np.full(50, np.nan)) is None


def test_limits_leave_room_and_show_flat_as_flat() -> None:
    low, high = limits(np.array([10.0, 10.001]), logarithmic=False) or (0.0, 0.0)
    assert high - low > 0.1
    assert limits(np.array([1.0, 1.0]), logarithmic=False) is None
    low, high = limits(np.array([1e-3, 1e3]), logarithmic=True) or (0.0, 0.0)
    assert 1e-4 < low < 1e-3 < 1e3 < high < 1e4


def test_scales() -> None:
    wide = np.array([0.1, 100.0])
    assert wants_log("loss", wide)
    assert not wants_log("loss", -wide)
    assert not wants_log("lr", wide)
    assert wants_log("grad_norm", np.array([1.0, 5.0]))
    assert not wants_log("loss", np.empty(0))


def test_broken_steps_are_the_first_the_last_and_some_between() -> None:
    values = np.full(5000, np.nan)
    values[0] = 1.0
    steps = broken_steps(np.arange(5000.0), values)
    assert (steps[0], steps[-1], steps.size) == (1, 4999, 200)
    assert broken_steps(np.arange(3.0), np.ones(3)).size == 0


def test_value_at_a_step_prefers_what_is_not_finite() -> None:
    steps, values = np.array([0.0, 1.0, 1.0, 4.0]), np.array([1.0, 5.0, np.nan, 2.0])
    assert np.isnan(value_at(steps, values, 1.0))
    assert value_at(steps, values, 3.4) == 2.0
    assert value_at(steps, values, -7.0) == 1.0


def test_epochs_are_placed_by_the_steps_of_an_epoch() -> None:
    run = run_of(curve("loss", np.ones(101)), curve("epoch", np.arange(101) / 20))
    val = curve("val/loss", [1, 2, 3], "epoch")
    case = Case(replace(run, series={**run.series, "val/loss": val}))
    assert placed(case, val, val.steps).tolist() == [0, 20, 40]
    assert placed(case, None, val.steps) is val.steps


def names() -> Iterator[str]:
    yield from ("a/b.log", "a-b.log", "A/B.log", "../../etc", "...", "漢字", "x" * 300)


def test_file_names_are_safe_and_differ() -> None:
    taken = set[str]()
    made = [file_name(name, taken, ending) for name in names() for ending in ("-loss", "-lr")]
    assert len({name.lower() for name in made}) == len(made)
    assert all(
        set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") for name in made
    )
    assert not any(name.startswith((".", "-")) for name in made)
    long = file_name("some/folder/" * 20 + "run-1/metrics.csv", set())
    assert long.endswith("run-1-metrics.csv.png")
    assert long.startswith(("some-", "folder-"))


def test_a_run_without_loss_still_has_a_main_panel() -> None:
    def first(run: Run) -> str:
        return main_panels(Case(run))[0].metric

    assert first(run_of(curve("val/accuracy", [1, 2]))) == "accuracy"
    assert first(run_of(curve("reward", [1, 2]), curve("lr", [1, 2]))) == "reward"
    assert main_panels(Case(run_of())) == []
