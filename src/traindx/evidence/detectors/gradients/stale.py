"""Gradients that stay from the step before."""

import numpy as np

from traindx.evidence.detector import (
    Case,
    Cases,
    Detected,
    Detector,
    Event,
    Finding,
    Run,
    Skipped,
)
from traindx.evidence.detectors._number_text import text, times
from traindx.testing.sketch import run


@Detector(
    "Gradients are not zeroed",
    needs=("recording", "grad_norm/*"),
    family="stale_gradients",
    explains=("grad_explodes", "grad_norm_grows"),
)
def gradients_not_zeroed(case: Case, *, min_samples: int = 2, norm_growth: float = 2.0) -> Detected:
    """Gradients of the step before were still there when backward began.

    The recorder looks at `.grad` right before the first `backward` of a step. After a step they must be
    gone: what is left is added to the new ones, and every step then follows the sum of all gradients so far.
    Accumulation over several batches is no such case: it clears them after the step.

    Silent when several optimizers share the work, when nothing was looked at after the first step, and where
    the training has no optimizer of its own. Known mistakes: code that keeps a part of the old gradients on
    purpose.
    """
    samples = max((len(curve) for curve in case.inside.layers("grad_norm").values()), default=0)
    stale = case.inside.events("stale_gradients")
    if not stale:
        alone = len(case.inside.optimizers) == 1
        return (
            None if alone and samples >= min_samples else Skipped("samples of gradients after the first step")
        )
    first = stale[0]
    norm = first.data.get("norm")
    size = f" (norm {text(float(norm))})" if isinstance(norm, int | float) else ""
    at = f" of step {first.step + 1:g}" if first.step is not None else ""
    grown = _growth(case)
    grows = (
        f" Their norm grows {times(grown)} from the first steps to its highest."
        if grown > norm_growth
        else ""
    )
    sentence = (
        f"Gradients of 1 step before were still there{size} when backward{at} began: nobody zeroes "
        f"them, each step takes the sum of all so far.{grows}"
    )
    return Finding(
        sentence, "silent_defect", "high", first.step, series="grad_norm", numbers={"growth": grown}
    )


def _growth(case: Case) -> float:
    norms = case.grad_norm
    if norms is None or len(norms) < 8 or norms.y[0] <= 0:
        return 1.0
    return float(np.quantile(norms.y, 0.95) / norms.y[0])


def _recorded(events: tuple[Event, ...], optimizers: int = 1) -> Run:
    groups = [{"class": "SGD", "groups": [{"lr": 0.1}]}] * optimizers
    series: dict[str, list[float]] = {
        "loss": [1.0] * 20,
        "grad_norm": [float(norm) for norm in range(1, 21)],
        "grad_norm/0": [1.0, 2.0, 3.0],
    }
    return run(series, events=events, facts={"optimizers": groups})


def cases() -> Cases:
    yield from gradients_not_zeroed.fires(
        _recorded((Event("stale_gradients", "still there", 1.0, {"norm": 0.7}),))
    )
    yield from gradients_not_zeroed.silent(_recorded(()), _recorded((), optimizers=2))
