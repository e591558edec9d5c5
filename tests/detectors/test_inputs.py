"""What a detector names in its signature is handed in; what is missing is said in words."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from traindx.core.nouns import Finding, Skipped
from traindx.core.units import Detector
from traindx.evidence.case import Case, Curve
from traindx.evidence.inputs import first_answer, needs
from traindx.testing.sketch import run

BOTH = Case(run({"loss": [3.0, 2.0, 1.0], "lr": [0.1, 0.1, 0.1]}))


def unit(detect: Callable[..., Finding | Skipped | None], **declared: tuple[str, ...]) -> Detector:
    return Detector(title="made up", family="made_up", detect=detect, **declared)


def both(loss: Curve, lr: Curve | None = None, *, min_points: int = 3) -> Finding:
    return Finding(f"{loss.y[-1]:g} {lr.y[0] if lr is not None else 'none'}.")


def of_case(anything: Case, *, factor: float = 2.0) -> Finding:
    """As a plugin may write it."""
    return Finding(f"{len(anything.run.series) * factor:g}.")


def answer(one: Detector, case: Case, **thresholds: float) -> str:
    found = first_answer(one, case, thresholds)
    return found.text if isinstance(found, Finding) else found.needs if found is not None else ""


def test_inputs_are_handed_in_by_name() -> None:
    assert needs(unit(both)) == ("loss",)
    assert answer(unit(both), BOTH) == "1 0.1."
    assert answer(unit(both), Case(run({"loss": [3.0, 2.0, 1.0]}))) == "1 none."


def test_a_detector_may_take_the_whole_case() -> None:
    assert needs(unit(of_case, needs=("setting:lr",))) == ("setting:lr",)
    assert answer(unit(of_case), BOTH) == "4."
    assert answer(unit(of_case), BOTH, factor=3.0) == "6."


@pytest.mark.parametrize(
    ("series", "traits", "needed"),
    [
        ({"lr": [0.1] * 3}, (), "the training loss"),
        ({"loss": [1.0, float("nan"), 1.0]}, (), "at least 3 values of the training loss"),
        ({"loss": [3.0, 2.0, 1.0]}, ("gan",), "a loss that measures progress: in RL and GAN training"),
        ({"loss": [3.0, 2.0, 1.0]}, ("elbo",), "a loss that measures progress: in variational training"),
    ],
)
def test_what_keeps_it_from_looking_is_said(
    series: dict[str, list[float]], traits: tuple[str, ...], needed: str
) -> None:
    guarded = unit(both, guards=("surrogate", "elbo"))
    assert answer(guarded, Case(run(series, traits=traits))).startswith(needed)


def test_the_least_number_of_points_can_be_set() -> None:
    assert answer(unit(both), BOTH, min_points=4) == "at least 4 values of the training loss"
