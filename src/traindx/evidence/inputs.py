"""What a detector may ask for in its signature: the engine hands it in by name, as pytest hands in fixtures.

`def detect(loss: Curve, val_loss: Curve, *, factor: float = 3.0)` gets both curves; where one is missing, the
detector is not checked and the report says what was needed. An input with the default None is handed in
where it is there, and never keeps a detector from looking. A keyword `min_points` is the least number of
finite values that each curve handed in must have. `VIEWS` is the table of all inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from inspect import signature
from typing import TYPE_CHECKING, Any

from traindx.core.nouns import Finding, Skipped
from traindx.core.settings import Threshold
from traindx.core.units import Detector
from traindx.evidence.case import Case
from traindx.evidence.curve import Curve
from traindx.evidence.detectors._gradients import scaled
from traindx.evidence.detectors._origin import origin
from traindx.evidence.detectors._updates import early_agreement
from traindx.source.ignoring import silenced

if TYPE_CHECKING:
    from traindx.source.training import Training


@dataclass(frozen=True)
class View:
    """One input: what it is, the need it stands for (see `Case.has`), and how it is got from a case.

    `lacking` says what is needed where the need is met and there is still nothing to hand in; empty where
    nothing is missing, and there is just nothing to look at.
    """

    words: str
    need: str
    of: Callable[[Case], object | None]
    lacking: str | None = None


def _training(case: Case) -> Training | None:
    """The training of a script that could be followed to its end."""
    return case.script.training if case.script is not None and case.script.trace.complete else None


def _logged(name: str, words: str) -> View:
    return View(words, name, lambda case: case.curve(name))


VIEWS: Mapping[str, View] = {
    "case": View("everything that is known of the run", "", lambda case: case),
    "run": View("the run as it was read", "", lambda case: case.run),
    "inside": View(
        "the facts, layers and events of a recording", "recording", lambda case: case.inside, "a recording"
    ),
    "script": View("the parsed script", "script", lambda case: case.script),
    "training": View(
        "the training loop of the script",
        "script",
        _training,
        "a training loop in the script that can be followed",
    ),
    "iterations": View(
        "the loops of the script with a backward pass and a step of an optimizer",
        "script",
        lambda case: (training := _training(case)) and (training.iterations or None),
        "a training loop in the script that can be followed",
    ),
    "origin": View("where the first NaN or Inf came from", "recording", origin, lacking=""),
    "crash": View("the exception that ended the program", "", lambda case: case.crash, lacking=""),
    "cosine": View(
        "agreement of the gradients of the first steps",
        "grad_cosine/*",
        early_agreement,
        "gradients of the first steps in a row",
    ),
    "loss": View("training loss", "loss", lambda case: case.loss),
    "val_loss": View("validation loss", "val/loss", lambda case: case.val_loss),
    "lr": View("learning rate", "lr", lambda case: case.lr),
    "lr_value": View(
        "highest learning rate, logged or configured",
        "lr|setting:lr",
        lambda case: case.lr_value,
        "the learning rate as a number",
    ),
    "grad_norm": View("gradient norm", "grad_norm", lambda case: case.grad_norm),
    "grad_norm_clipped": _logged("grad_norm_clipped", "gradient norm after clipping"),
    "accuracy": _logged("accuracy", "training accuracy"),
    "entropy": _logged("entropy", "entropy"),
    "reward": _logged("reward", "reward"),
    "step_s": _logged("step_s", "time per step"),
    "data_wait_s": _logged("data_wait_s", "time spent waiting for data"),
    "loss_scale": _logged("loss_scale", "loss scale"),
    "weight_norm": _logged("weight_norm", "weight norm"),
    "gpu_busy_share": _logged("gpu_busy_share", "share of time that the device works"),
    "gpu_mem_share": _logged("gpu_mem_share", "share of the device's memory in use"),
}


@dataclass(frozen=True)
class Exclusion:
    """A kind of run that a detector does not apply to, and what it would take to look.

    Where nothing would, there is nothing to find: that is an answer."""

    applies: Callable[[Case], bool]
    needs: str = ""


def _no_progress(kind: str, applies: Callable[[Case], bool]) -> Exclusion:
    return Exclusion(applies, f"a loss that measures progress: in {kind} training it does not")


GUARDS: Mapping[str, Exclusion] = {
    "surrogate": _no_progress("RL and GAN", lambda case: case.surrogate),
    "elbo": _no_progress("variational", lambda case: "elbo" in case.traits),
    "negative_loss": _no_progress("maximum-likelihood", lambda case: "negative_loss" in case.traits),
    "preference": _no_progress("preference", lambda case: "preference" in case.traits),
    "si_sdr": _no_progress("signal-to-distortion", lambda case: "si_sdr" in case.traits),
    "resumed": Exclusion(
        lambda case: case.resumed, "the start of the training (the log begins in the middle)"
    ),
    "scaled": Exclusion(scaled, "gradient norms that are not multiplied by the loss scale"),
    "good": Exclusion(lambda case: case.level.good),
    "improving": Exclusion(lambda case: case.level.improves),
}


@cache
def inputs(detect: Callable[..., object]) -> Mapping[str, bool]:
    """The names of a detector's inputs, in order, and whether it can do without."""
    positional = [p for p in signature(detect).parameters.values() if p.kind is not p.KEYWORD_ONLY]
    return {parameter.name: parameter.default is None for parameter in positional}


def needs(unit: Detector) -> tuple[str, ...]:
    """What must be there for a detector to look at all: by its signature, and as it declares."""
    view_needs = [
        VIEWS[name].need for name, optional in inputs(unit.detect).items() if name in VIEWS and not optional
    ]
    return tuple(dict.fromkeys((*(need for need in view_needs if need), *unit.needs)))


def first_answer(
    unit: Detector, case: Case, thresholds: Mapping[str, Threshold] | None = None
) -> Finding | Skipped | None:
    """What a detector answers; of several places the first that no comment in the script silences."""
    answer = places(unit, case, thresholds)
    if isinstance(answer, Skipped):
        return answer
    findings = not_silenced(unit, case, answer)
    return findings[0] if findings else Skipped() if answer else None


def not_silenced(unit: Detector, case: Case, findings: Iterable[Finding]) -> list[Finding]:
    """Those findings that no `# traindx: ignore` in the script silences."""
    script = case.script
    return [finding for finding in findings if script is None or not silenced(script, unit.id, finding)]


def places(
    unit: Detector, case: Case, thresholds: Mapping[str, Threshold] | None = None
) -> list[Finding] | Skipped:
    """Every place where a detector sees its thing; `Skipped` where it cannot look."""
    guards = [GUARDS[name] for name in unit.guards]
    for guard in guards:
        if guard.needs and guard.applies(case):
            return Skipped(guard.needs)
    handed: list[Any] = []
    series: str | None = None
    for name, optional in inputs(unit.detect).items():
        view = VIEWS.get(name, VIEWS["case"])  # a plugin may call its case as it likes
        value = view.of(case)
        if value is None and not optional:
            return Skipped(f"the {view.words}" if view.lacking is None else view.lacking)
        if isinstance(value, Curve) and not optional and len(value) < _least(unit, thresholds):
            return Skipped(f"at least {_least(unit, thresholds)} values of the {view.words}")
        handed.append(value)
        if isinstance(value, Curve) and not optional:
            series = series or value.name
    if any(not guard.needs and guard.applies(case) for guard in guards):
        return []
    answer = unit.detect(*handed, **(thresholds or {}))
    if answer is None or isinstance(answer, Skipped):
        return [] if answer is None else answer
    findings = [answer] if isinstance(answer, Finding) else list(answer)
    return [_complete(case.harm.weighed(finding, unit.harms), series) for finding in findings]


def _complete(finding: Finding, series: str | None) -> Finding:
    """A finding is of the first curve handed in unless it names another; a sign is of low severity."""
    severity = finding.severity if finding.symptom is not None else "low"
    return replace(finding, series=finding.series or series, severity=severity)


def _least(unit: Detector, thresholds: Mapping[str, Threshold] | None) -> int:
    """The points a curve must have: the detector's own `min_points`, where it is a whole number."""
    default = (getattr(unit.detect, "__kwdefaults__", None) or {}).get("min_points", 0)
    points = (thresholds or {}).get("min_points", default)
    return points if isinstance(points, int) else 0
