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
    facts,
    number,
    word,
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

    Where several optimizers share the work (a GAN, actor and critic), one may add to the gradients of
    another, as long as they are cleared before they are used. There the gradients of each are followed
    through its first steps; seen where no `backward` between a step and the next, three times in a row,
    began without them.

    Silent when nothing was looked at after the first step, where an optimizer took too few steps to tell, and
    where gradients are written by hand. Known mistakes: code that keeps a part of the old gradients on
    purpose.
    """
    samples = max((len(curve) for curve in case.inside.layers("grad_norm").values()), default=0)
    stale = case.inside.events("stale_gradients")
    if not stale:
        alone = len(case.inside.optimizers) == 1
        is_seen = (alone and samples >= min_samples) or _all_cleared(case, min_samples)
        return None if is_seen else Skipped("gradients after the first steps of each optimizer")
    first = stale[0]
    owners = list(dict.fromkeys(name for event in stale if (name := word(event.data, "optimizer"))))
    norm = first.data.get("norm")
    size = f" (norm {text(float(norm))})" if isinstance(norm, int | float) else ""
    at = f" of step {first.step + 1:g}" if first.step is not None else ""
    grown = _growth(case, owners)
    grows = (
        f" Their norm grows {times(grown)} from the first steps to its highest."
        if grown > norm_growth
        else ""
    )
    sentence = (
        f"Gradients of 1 step before were still there{size} when backward{at} began: nobody zeroes "
        f"them, each step takes the sum of all so far.{grows}"
    )
    if owners:
        steps = number(first.data, "steps") or 1
        sentence = (
            f"Nobody zeroes the gradients of {' and '.join(owners)}: those of the step before were still "
            f"there{size} at every backward, {steps:g} steps in a row; each step takes the sum of all so "
            f"far.{grows}"
        )
    return Finding(
        sentence,
        "silent_defect",
        "high",
        first.step,
        series="grad_norm",
        numbers={"growth": grown} | ({"uncleared_optimizer": owners[0]} if owners else {}),
    )


def _all_cleared(case: Case, min_steps: int) -> bool:
    """Whether each of several optimizers was seen to find its gradients cleared."""
    followed = facts(case.run.facts.get("gradients_cleared"))
    cleared = sum((number(fact, "cleared") or 0) >= min_steps for fact in followed)
    return 0 < len(case.inside.optimizers) <= cleared


def _growth(case: Case, owners: list[str]) -> float:
    """Of the gradients' norm, from the first step to its highest; of an optimizer's own where it has one."""
    own = [norms for name in owners if (norms := case.curve(f"optimizer/{name}/grad_norm")) is not None]
    norms = own[0] if own else case.grad_norm
    if norms is None or len(norms) < 8 or norms.y[0] <= 0:
        return 1.0
    return float(np.quantile(norms.y, 0.95) / norms.y[0])


def _recorded(events: tuple[Event, ...], optimizers: int = 1, cleared: int = 0) -> Run:
    groups = [{"class": "SGD", "groups": [{"lr": 0.1}]}] * optimizers
    series: dict[str, list[float]] = {
        "loss": [1.0] * 20,
        "grad_norm": [float(norm) for norm in range(1, 21)],
        "grad_norm/0": [1.0, 2.0, 3.0],
    }
    followed = [{"optimizer": f"opt{at}", "cleared": 3, "left": 0} for at in range(cleared)]
    return run(series, events=events, facts={"optimizers": groups, "gradients_cleared": followed})


def cases() -> Cases:
    yield from gradients_not_zeroed.fires(
        _recorded((Event("stale_gradients", "still there", 1.0, {"norm": 0.7}),)),
        _recorded(
            (Event("stale_gradients", "still there", 4.0, {"norm": 0.7, "optimizer": "opt_d", "steps": 3}),),
            optimizers=2,
            cleared=1,
        ),
    )
    yield from gradients_not_zeroed.silent(
        _recorded(()), _recorded((), optimizers=2), _recorded((), optimizers=2, cleared=2)
    )
