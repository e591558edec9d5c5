"""A detector's page and its thresholds cannot disagree, and old names of thresholds keep working."""

from __future__ import annotations

import importlib
import re

import pytest

from traindx.core.threshold_names import _renamed, current
from traindx.core.units import Detector, detectors
from traindx.engine import diagnose
from traindx.testing.sketch import decay, noisy, run

UNITS = detectors()
KNOWN = {unit.id: unit.detect.__kwdefaults__ or {} for unit in UNITS}
NUMBER = re.compile(r"(?<![\w.{-])(\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)( %)?(?![\w}])")
# Numbers that are of other things: 10 samples of a rule of thumb, a table of what few evaluations need.
OTHER_THINGS = {("validation_parts", "30 %"), ("outputs_constant", "4"), ("config_momentum_odd", "0.98")}


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.id)
def test_a_page_holds_no_copy_of_a_threshold(unit: Detector) -> None:
    page = unit.detect.__doc__ or importlib.import_module(unit.module).__doc__ or ""
    for text, percent in NUMBER.findall(page):
        value = float(text.replace(",", "")) / (100 if percent else 1)
        own = [name for name, default in KNOWN[unit.id].items() if default == pytest.approx(value, abs=1e-18)]
        said = text.rstrip(",") + percent
        assert value in (0, 1, 2) or not own or (unit.id, said) in OTHER_THINGS, f"write {{{own[0]}}}: {said}"


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.id)
def test_every_placeholder_is_filled(unit: Detector) -> None:
    assert not re.search(r"\{\w+(:%)?\}", unit.page)


def test_a_page_shows_the_number_that_counts() -> None:
    page = next(unit.page for unit in UNITS if unit.id == "one_answer")
    assert "98 %" in page


def test_old_names_lead_to_thresholds_that_are_there() -> None:
    for detector, names in _renamed().items():
        assert set(names.values()) <= set(KNOWN[detector])
        assert not set(names) & set(KNOWN[detector])


def test_an_old_name_counts_and_is_said() -> None:
    found, lines = current({"lr_decayed_early": {"half": 0.4}, "plateau": {"points": 9}}, KNOWN)
    assert found == {"lr_decayed_early": {"idle_run_share": 0.4}, "plateau": {"min_points": 9}}
    assert lines[0] == "lr_decayed_early.half is called lr_decayed_early.idle_run_share now."
    assert current({"plugin": {"points": 9}}, {"plugin": {"points": 3}}) == ({"plugin": {"points": 9}}, [])
    assert current({"script_lr_high": {"plain": 3.0}}, KNOWN)[0] == {}


def test_an_old_name_reaches_a_diagnosis_with_a_warning() -> None:
    curve = noisy(decay(300, 3.0, 1.0), 0.03)
    curve[200] *= 6
    with pytest.warns(FutureWarning, match="loss_spikes.spike_ratio now"):
        told = diagnose(run({"loss": curve}), thresholds={"loss_spikes": {"ratio": 9.0}})
    assert {check.check: check.seen for check in told.coverage}["loss_spikes"] is False
