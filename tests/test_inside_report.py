"""The inside of a training as it is shown: pictures, the page, the terminal; on real recordings."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import traindx
from tests.diagnoses import EVIL, broken, curve, healthy, run_of
from tests.test_html import CHROMIUM, HOSTILE, Page
from traindx.core.nouns import Diagnosis, Run, Series
from traindx.evidence.case import Case
from traindx.observe import recorder as recorders
from traindx.observe import watch as watching
from traindx.report.diagnosis import html_document, markdown, render_diagnosis
from traindx.report.diagnosis_plots import inside_pictures, write_diagnosis_plots
from traindx.report.grids import grid, labelled_places, layer_names
from traindx.report.inside_words import inside_sentences
from traindx.report.layout import Screen
from traindx.report.spreads import spreads
from traindx.report.times import spent
from traindx.report.to_plotly_inside import distinct_names

torch = pytest.importorskip("torch")
ALL = ["gradient_flow", "activations", "update_ratios", "time"]


def _model(kind: str) -> Any:
    nn = torch.nn
    if kind == "one":
        return nn.Linear(8, 2)
    if kind == "deep":
        deep = [part for _ in range(50) for part in (nn.Linear(8, 8), nn.Sigmoid())]
        return nn.Sequential(*deep, nn.Linear(8, 2))
    return nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.Tanh(), nn.Linear(16, 2))


def _train(kind: str, steps: int, lr: float) -> None:
    torch.manual_seed(0)
    model = _model(kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    for _ in range(steps):
        x = torch.randn(32, 8)
        loss = ((model(x) - x[:, :2]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


KINDS = {"mlp": (40, 0.05), "deep": (9, 0.05), "nan": (12, 1e12), "one": (1, 0.05)}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Diagnosis]]:
    """Small trainings, recorded and diagnosed."""
    before, folder = Path.cwd(), tmp_path_factory.mktemp("recorded")
    kept = recorders._current, watching._latest
    recorders._current, watching._latest = None, None
    os.chdir(folder)
    try:
        found = {}
        for kind, (steps, lr) in KINDS.items():
            with traindx.watch(name=kind) as watch:
                _train(kind, steps, lr)
            found[kind] = traindx.diagnose(watch.folder)
        yield found
    finally:
        os.chdir(before)
        recorders._current, watching._latest = kept


def case_of(diagnosis: Diagnosis) -> Case:
    return Case(diagnosis.run)


def page_of(*diagnoses: Diagnosis) -> Page:
    return Page(html_document(diagnoses))


@pytest.mark.parametrize("kind", KINDS)
def test_pictures_are_drawn(kind: str, recorded: dict[str, Diagnosis], tmp_path: Path) -> None:
    written = {path.name for path in write_diagnosis_plots([recorded[kind]], tmp_path)}
    assert {f"{name}.png" for name in ALL} <= written
    for name in ALL:
        data = (tmp_path / f"{name}.png").read_bytes()
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert 8_000 < len(data) < 600_000


def test_several_runs_keep_their_pictures_apart(recorded: dict[str, Diagnosis], tmp_path: Path) -> None:
    written = write_diagnosis_plots([recorded["mlp"], recorded["one"]], tmp_path)
    assert len({path.name for path in written}) == len(written)
    assert sum(path.name.endswith("-gradient_flow.png") for path in written) == 2


def test_a_log_without_internals_has_none() -> None:
    for diagnosis in (healthy(), broken(), replace(healthy(), run=run_of())):
        assert not list(inside_pictures(diagnosis))
        assert inside_sentences(diagnosis, everything=True) == []
        assert "Inside the training" not in page_of(diagnosis).texts
        assert "Inside" not in markdown([diagnosis])


def test_layers_stand_from_input_to_output(recorded: dict[str, Diagnosis]) -> None:
    gradients = grid(case_of(recorded["deep"]), "grad_norm")
    assert gradients is not None
    assert gradients.layers == tuple(str(number) for number in range(0, 101, 2))
    assert {1, 2, 4, 8} <= set(gradients.steps.tolist())
    assert gradients.first()[-1] > 1e6 * gradients.first()[1]
    spread = grid(case_of(recorded["mlp"]), "activation_std")
    assert spread is not None
    assert spread.layers == ("0", "1", "2", "3", "4")


def test_broken_values_are_told_apart_from_gaps(recorded: dict[str, Diagnosis]) -> None:
    gradients = grid(case_of(recorded["nan"]), "grad_norm")
    assert gradients is not None
    assert gradients.ever_broken().all()
    assert np.isnan(gradients.last()).all()
    assert np.isfinite(gradients.first()).all()
    zeros = grid(case_of(recorded["nan"]), "activation_zero_share", share=True)
    assert zeros is not None
    assert zeros.broken[:, -1].all()
    said = dict(inside_sentences(recorded["nan"], everything=False))
    assert "NaN or Inf in 3 layers, first layer 0" in said["layers"]


def test_the_page_has_a_chart_of_each(recorded: dict[str, Diagnosis]) -> None:
    page = page_of(recorded["mlp"])
    wanted = {"Gradient flow", "Gradient norm by layer", "Activations", "Activation histograms"}
    assert wanted | {"Update ratio by layer", "Where the time goes"} <= set(page.texts)
    (data,) = page.data()
    rooms = [int(number) for number in page.values("data-chart")]
    assert sorted(rooms) == list(range(len(data["charts"])))
    fields = [one for chart in data["charts"] for one in chart["data"] if one["type"] == "heatmap"]
    assert len(fields) >= 3
    for one in fields:
        assert len(one["z"]) == len(one["y"]) == len(set(one["y"]))
        assert all(len(row) == len(one["x"]) for row in one["z"])


def layered(names: list[str], looks: int = 3) -> Run:
    """A run whose layers are called so, as a recording might tell it."""
    steps = np.arange(1.0, looks + 1)
    series = [curve("loss", np.linspace(2, 1, 30))]
    for name in names:
        for statistic in (
            "grad_norm",
            "update_ratio",
            "activation_std",
            "activation_mean",
            "activation_zero_share",
        ):
            values = np.resize([0.1, 0.0, np.nan, 1e300, 3.0], looks)
            series.append(Series(f"{statistic}/{name}", steps, values, "", "none"))
    counted = [{"name": name, "step": 1, "low": -1.0, "high": 1.0, "counts": [1, 2]} for name in names]
    return replace(run_of(*series), facts=MappingProxyType({"histograms": counted}))


@pytest.mark.parametrize("name", [EVIL, HOSTILE, "$x$", "", "a" * 500, "漢字", "%{x}"])
def test_layers_of_any_name_do_no_harm(name: str, tmp_path: Path) -> None:
    diagnosis = replace(healthy(), run=layered([name, name + "2", "b" * 300 + name]))
    assert len(write_diagnosis_plots([diagnosis], tmp_path)) >= 4
    page = page_of(diagnosis)
    assert len(page.programs()) == 3
    shown = json.dumps(page.data())
    assert "<script" not in shown
    assert "<img" not in shown
    list(render_diagnosis(diagnosis, everything=True, screen=Screen()))
    markdown([diagnosis]).encode()


@pytest.mark.parametrize("count", [1, 2, 150, 400])
def test_any_number_of_layers_and_looks(count: int, tmp_path: Path) -> None:
    looks = {1: 1, 2: 2, 150: 500, 400: 5}[count]
    run = layered([f"blocks.{number}.mlp.fc_{number % 7}" for number in range(count)], looks)
    diagnosis = replace(healthy(), run=run)
    written = write_diagnosis_plots([diagnosis], tmp_path)
    assert all(path.stat().st_size < 1_200_000 for path in written)
    (data,) = page_of(diagnosis).data()
    for one in (one for chart in data["charts"] for one in chart["data"] if one["type"] == "heatmap"):
        assert len(one["z"]) <= 240
        assert len(one["x"]) <= 120


@given(st.integers(0, 700), st.integers(2, 60))
def test_labels_are_few_and_the_ends_among_them(count: int, most: int) -> None:
    places = labelled_places(count, most).tolist()
    assert len(places) <= most
    assert places == sorted(set(places))
    if count:
        assert (places[0], places[-1]) == (0, count - 1)


@given(st.lists(st.text(max_size=90), max_size=12))
def test_names_stay_apart(layers: list[str]) -> None:
    assert len(set(distinct_names(layers))) == len(layers)
    assert all(len(name) <= 34 for name in layer_names(layers))


def test_looks_are_joined_when_they_are_many() -> None:
    found = grid(Case(layered(["fc"], looks=1000)), "grad_norm", 100)
    assert found is not None
    assert found.values.shape == (1, 100)
    assert found.broken.all()  # each stretch of ten holds a NaN
    assert found.steps[0] == 1


def test_the_parts_of_a_step_make_it_whole(recorded: dict[str, Diagnosis]) -> None:
    found = spent(case_of(recorded["mlp"]))
    assert found is not None
    assert sum(map(found.share, found.totals)) == pytest.approx(1)
    whole = recorded["mlp"].run.series["step_s"]
    assert found.total == pytest.approx(float(whole.values.sum()), rel=0.2)
    steps = 1000
    parts = [curve("step_s", np.full(steps, 1.0)), curve("data_wait_s", np.full(steps, 0.75))]
    waiting = replace(healthy(), run=run_of(*parts, curve("forward_s", np.full(steps, 0.25))))
    ((name, said),) = inside_sentences(waiting, everything=False)
    assert name == "time"
    assert said == "waiting for data 75 %, forward 25 %; 1 s a step."
    assert spent(Case(run_of(curve("step_s", [1.0])))) is None
    assert spent(Case(run_of(curve("step_s", [np.nan]), curve("forward_s", [np.inf])))) is None


ODD: list[Callable[[], object]] = [
    lambda: None,
    lambda: "x",
    lambda: [1, None, {}, {"name": "a"}],
    lambda: [{"name": "a", "step": 1, "low": 0, "high": 1, "counts": []}],
    lambda: [{"name": "a", "step": 1, "low": 0, "high": 1, "counts": ["x", None]}],
    lambda: [{"name": "a", "step": 1, "low": float("nan"), "high": 1, "counts": [1]}],
    lambda: [{"name": "a", "step": 1, "low": -1e308, "high": 1e308, "counts": [1]}],
]


@pytest.mark.parametrize("number", range(len(ODD)))
def test_histograms_that_are_none_are_passed_over(number: int) -> None:
    run = replace(layered(["a"]), facts=MappingProxyType({"histograms": ODD[number]()}))
    assert spreads(Case(run), 12) == []


def test_histograms_of_one_value_and_of_none_finite() -> None:
    told = [
        {"name": "a", "step": 1, "low": 2.0, "high": 2.0, "counts": [5, 0]},
        {"name": "a", "step": 9, "low": 0.0, "high": 0.0, "counts": [0, 0], "nonfinite": 7},
    ]
    ((name, looks),) = spreads(
        Case(replace(layered(["a"]), facts=MappingProxyType({"histograms": told}))), 12
    )
    assert name == "a"
    assert [one.step for one in looks] == [1, 9]
    assert looks[0].shares.tolist() == [1]
    assert looks[1].nonfinite == 1


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here")
@pytest.mark.parametrize("which", ["nan", "hostile"])
def test_a_browser_draws_the_inside(which: str, recorded: dict[str, Diagnosis], tmp_path: Path) -> None:
    hostile = replace(healthy(), run=layered([HOSTILE, EVIL, "%{x}"]))
    page = tmp_path / "page.html"
    page.write_text(html_document([hostile if which == "hostile" else recorded["nan"]]), encoding="utf-8")
    options = "--headless --no-sandbox --disable-gpu --window-size=1000,12000 --virtual-time-budget=20000"
    profile = f"--user-data-dir={tmp_path / 'profile'}"
    command = [
        str(CHROMIUM),
        *options.split(),
        profile,
        "--enable-logging=stderr",
        "--dump-dom",
        page.as_uri(),
    ]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert "CONSOLE" not in result.stderr, [line for line in result.stderr.splitlines() if "CONSOLE" in line]
    drawn = Page(re.sub(r"<script>.*?</script>", "", result.stdout, flags=re.S))
    rooms = [attrs for _, attrs in drawn.tags if "data-chart" in attrs]
    assert len(rooms) >= 6
    assert all(room.get("data-drawn") for room in rooms)
    assert "taken" not in re.findall(r"<title>(.*?)</title>", result.stdout, flags=re.S)
