"""Every detector keeps what it promises: its own cases, its declaration, and calm on wild curves."""

from __future__ import annotations

import inspect
import math
import re
import warnings
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from traindx.core.names import SETTINGS
from traindx.core.nouns import SEVERITIES, Event, Finding, Run, Skipped
from traindx.core.units import Detector, detectors
from traindx.evidence.case import Case
from traindx.evidence.inputs import GUARDS, VIEWS, first_answer, inputs
from traindx.knowledge.catalogue import ids_of
from traindx.source import Script
from traindx.testing.cases import cases_of
from traindx.testing.sketch import run

SYMPTOMS = frozenset(
    """
    nonfinite divergence not_learning exploding_gradients vanishing_gradients dead_units saturated_units
    oscillation loss_spike plateau slow_convergence underfitting overfitting double_descent silent_defect
    slow_training memory_growth crash
    """.split()
)
UNITS = detectors()
every = pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.id)


def _look(unit: Detector, seen: Run | Script | Case) -> Finding | Skipped | None:
    """What the detector answers, as the engine asks it: any warning is an error."""
    made = Case(run({}), seen) if isinstance(seen, Script) else seen
    case = made if isinstance(made, Case) else Case(made)
    if any(not case.has(need) for need in unit.needs):
        return Skipped("a need")
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("error")
        return first_answer(unit, case)


def _sound(finding: Finding) -> None:
    assert finding.text.endswith(".")
    assert re.search(r"\d", finding.text), finding.text
    assert "nan" not in finding.text.replace("NaN", "").split()
    assert finding.symptom is None or finding.symptom in SYMPTOMS
    assert finding.severity in SEVERITIES
    assert finding.symptom is not None or finding.severity == "low", "a sign is of low severity"
    assert 0 <= finding.strength <= 1
    assert finding.step is None or math.isfinite(finding.step)
    assert all(math.isfinite(mark) for mark in finding.marks)


def test_there_are_detectors() -> None:
    assert len(UNITS) >= 38
    assert len({unit.id for unit in UNITS}) == len(UNITS)
    assert ids_of("detector") == {unit.id for unit in UNITS}


@every
def test_declaration(unit: Detector) -> None:
    first = unit.page.split("\n")[0]
    assert 0 < len(first) <= 100
    assert first.endswith(".")
    assert "\n" in unit.page, "the page says more than the first line"
    assert unit.title
    assert not unit.title.endswith(".")
    assert unit.family
    assert inputs(unit.detect)
    assert set(inputs(unit.detect)) <= set(VIEWS)
    assert set(unit.guards) <= set(GUARDS)
    for parameter in list(inspect.signature(unit.detect).parameters.values())[len(inputs(unit.detect)) :]:
        assert parameter.kind is parameter.KEYWORD_ONLY
        assert isinstance(parameter.default, bool | int | float | str)
    for explained in unit.explains:
        assert explained in {other.id for other in UNITS}


@every
def test_needs_name_known_settings(unit: Detector) -> None:
    for need in "|".join(unit.needs).split("|"):
        if need.startswith("setting:"):
            assert need.removeprefix("setting:") in SETTINGS


@every
def test_fires_on_its_cases(unit: Detector) -> None:
    cases = cases_of(unit)[0]
    assert cases
    for seen in cases:
        answer = _look(unit, seen)
        assert isinstance(answer, Finding), answer
        _sound(answer)


@every
def test_silent_on_its_cases(unit: Detector) -> None:
    cases = cases_of(unit)[1]
    assert len(cases) >= 2
    for seen in cases:
        assert not isinstance(_look(unit, seen), Finding)


@every
def test_no_trouble_in_an_empty_run(unit: Detector) -> None:
    answer = _look(unit, run({}))
    assert not isinstance(answer, Finding) or answer.symptom is None


def test_symptoms_are_those_of_the_pages() -> None:
    from importlib.resources import files

    pages = files("traindx").joinpath("knowledge", "symptoms")
    found = {page.name.removesuffix(".md") for page in pages.iterdir() if page.name.endswith(".md")}
    assert found == SYMPTOMS


# Wild runs: what a log may hold at its worst.

NAMES = (
    "loss val/loss lr lr/pg1 grad_norm accuracy val/accuracy perplexity weight_norm loss_scale skipped_steps "
    "nan_steps step_s epoch_s data_wait_s tokens_per_s steps_per_s mfu gpu_mem rss_bytes epoch reward "
    "entropy grad_clip_share loss/box loss/cls"
).split()
ODD = (0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 1e-300, 1.7e308, -1.7e308, 65536.0, 1e-8)
values = st.one_of(st.sampled_from(ODD), st.floats(width=64), st.floats(-10, 10))
curves = st.one_of(
    st.lists(values, min_size=1, max_size=5),
    st.lists(values, min_size=6, max_size=70),
    st.builds(lambda v, n: [v] * n, values, st.integers(1, 60)),
    st.builds(
        lambda start, end, n, size: (np.geomspace(start, end, n) * size).tolist(),
        st.floats(1e-6, 1e6),
        st.floats(1e-6, 1e6),
        st.integers(2, 60),
        st.sampled_from((1.0, 1e-200, 1e200)),
    ),
)
NUMBERS = (0, 1, -1, 2, 0.1, 1e-9, 1e9, 128, math.nan, math.inf, "auto", True, False)
WORDS = ("adam", "SGD", "fp16", "bf16-mixed", "", "none", 0, True)
TRAITS = ("rl", "gan", "elbo", "negative_loss", "preference")
WORDED = ("optimizer", "schedule", "precision", "model", "fp16", "bf16")


@st.composite
def wild_runs(draw: st.DrawFn) -> Run:
    series = {}
    for name in draw(st.lists(st.sampled_from(NAMES), max_size=6, unique=True)):
        points = draw(curves)
        step = draw(st.sampled_from((0.0, 1.0, 0.37, 1000.0)))
        series[name] = (np.arange(len(points)) * step + draw(st.sampled_from((0.0, 1.0, 1e6))), points)
    chosen = draw(st.lists(st.sampled_from(sorted(SETTINGS)), max_size=8, unique=True))
    events = draw(
        st.lists(
            st.builds(
                Event,
                st.sampled_from(("resume", "overflow", "out_of_memory", "exception", "nan_filter")),
                st.just("told"),
                st.sampled_from((None, 0.0, 3.0, 1e6)),
            ),
            max_size=4,
        )
    )
    return run(
        series,
        axis=draw(st.sampled_from(("step", "epoch", "row"))),
        settings={name: draw(st.sampled_from(WORDS if name in WORDED else NUMBERS)) for name in chosen},
        events=events,
        traits=draw(st.lists(st.sampled_from(TRAITS), max_size=2)),
    )


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(wild_runs())
def test_calm_on_wild_runs(seen: Run) -> None:
    for unit in UNITS:
        answer = _look(unit, seen)
        assert answer is None or isinstance(answer, Finding | Skipped)
        if isinstance(answer, Finding):
            _sound(answer)


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1.0, 1e13, 1e200])
@every
def test_the_loss_may_be_of_any_size(unit: Detector, scale: float) -> None:
    rng = np.random.default_rng(5)
    falling = (0.2 + 2.0 * np.exp(-np.arange(120) / 30)) * np.exp(0.03 * rng.standard_normal(120)) * scale
    seen = run({"loss": falling, "val/loss": falling * 1.05, "lr": np.linspace(1e-3, 1e-5, 120)})
    answer = _look(unit, seen)
    if isinstance(answer, Finding):
        _sound(answer)
        assert answer.severity == "low", (unit.id, answer.text)


# Healthy trainings of the usual kinds: nothing above low severity.


def _healthy() -> Iterator[tuple[str, Run]]:
    rng = np.random.default_rng(11)
    for points in (40, 300, 3000):
        at = np.arange(points) / points

        def noise(size: float, points: int = points) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
            return np.exp(size * rng.standard_normal(points))

        fall = 0.3 + 3.0 * np.exp(-6 * at)
        power = 2.0 + 8.0 * (1 + np.arange(points)) ** -0.4
        warm = np.minimum(1.0, at / 0.05)
        cosine = 3e-4 * warm * (0.05 + 0.95 * 0.5 * (1 + np.cos(np.pi * at)))
        staged = np.where(at < 0.4, 0.1, np.where(at < 0.75, 0.01, 0.001))
        steps = np.where(np.arange(points) % max(20, points // 8) == 0, 8.0, 0.4) * noise(0.05)
        steps[0] = 30.0
        yield (
            f"language model {points}",
            run(
                {
                    "loss": power * noise(0.02),
                    "lr": cosine,
                    "grad_norm": (0.3 + 10 * np.exp(-60 * at) + 0.4 * at) * noise(0.25),
                    "step_s": steps,
                    "gpu_mem": np.maximum.accumulate(20 + 0.5 * rng.standard_normal(points)),
                },
                settings={"optimizer": "adamw", "clip": 1.0, "weight_decay": 0.1, "batch_size": 64},
            ),
        )
        yield (
            f"classifier {points}",
            run(
                {
                    "loss": (0.05 + 2.2 * np.exp(-5 * at) + 0.2 * (staged > 0.05)) * noise(0.1),
                    "val/loss": (0.3 + 2.0 * np.exp(-5 * at)) * noise(0.03),
                    "lr": staged,
                    "samples_per_s": 900 * noise(0.1),
                },
                settings={"optimizer": "sgd", "momentum": 0.9, "lr": 0.1, "batch_size": 128},
            ),
        )
        scale = 65536 / 2.0 ** np.minimum(np.arange(points), 4)
        yield (
            f"half precision {points}",
            run(
                {
                    "loss": fall * noise(0.05),
                    "grad_norm": 3e5 * noise(0.8),
                    "loss_scale": scale,
                    "skipped_steps": np.minimum(np.arange(points), 4.0),
                },
                settings={"precision": "fp16"},
            ),
        )
        stage = np.minimum(3, np.arange(points) * 4 // points) if points > 40 else np.zeros(points)
        yield (
            f"longer sequences in stages {points}",
            run(
                {
                    "loss": (0.001 + 0.4 * np.exp(-40 * (4 * at - stage))) * noise(0.1),
                    "forward_s": 1e-3 * 1.5**stage * noise(0.05),
                },
                facts={"models": [{"class": "Net"}]},
            ),
        )
        yield (
            f"the whole set at every step {points}",
            run({"loss": (0.01 + np.exp(-80 * at)).astype(np.float32), "lr": np.full(points, 0.1)}),
        )
        rare = np.where(rng.random(points) < 0.1, 0.003, 0.0) * noise(0.5)
        yield f"a margin that most batches keep {points}", run({"loss": np.where(at < 0.05, 0.13, rare)})
        yield (
            f"reinforcement {points}",
            run(
                {
                    "loss": 1e-3 * rng.standard_normal(points),
                    "grad_norm": 0.5 * noise(0.8) * (rng.random(points) > 0.3),
                    "reward": np.linspace(0, 1, points) + 0.2 * rng.standard_normal(points),
                    "lr": cosine / 100,
                },
                traits=("rl",),
            ),
        )


@cache
def _trainings() -> dict[str, Run]:
    return dict(_healthy())


@pytest.mark.parametrize("kind", _trainings())
def test_healthy_trainings_raise_nothing_above_low(kind: str) -> None:
    for unit in UNITS:
        answer = _look(unit, _trainings()[kind])
        if isinstance(answer, Finding):
            _sound(answer)
            assert answer.severity == "low", f"{unit.id}: {answer.text}"


def test_a_hundred_thousand_points_are_looked_at_quickly() -> None:
    from time import process_time

    rng = np.random.default_rng(2)
    points = 100_000
    at = np.arange(points) / points
    noise = np.exp(0.05 * rng.standard_normal(points))
    seen = run(
        {
            "loss": (1.0 + 3.0 * np.exp(-8 * at)) * noise,
            "val/loss": (1.1 + 3.0 * np.exp(-8 * at)) * noise,
            "lr": 1e-3 * (1 - at),
            "grad_norm": 0.5 * noise,
            "accuracy": (1 - np.exp(-4 * at)) * np.minimum(1.0, noise),
            "step_s": 0.3 * noise,
        }
    )
    best = math.inf
    for _ in range(3):
        start = process_time()
        for unit in UNITS:
            _look(unit, seen)
        best = min(best, process_time() - start)
    assert best < 0.6, f"{best:.2f} s of CPU over {len(UNITS)} detectors"
