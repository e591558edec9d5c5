"""Gradient clipping."""

import re
from dataclasses import replace

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Run, Skipped
from traindx.evidence.detectors._gradients import scaled
from traindx.evidence.detectors._layers import model
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._script_words import speaks_of
from traindx.evidence.detectors._settings import optimizer_family
from traindx.evidence.detectors._updates import ratios
from traindx.testing.sketch import decay, noisy, run

_RECURRENT = ("lstm", "gru", "rnn", "seq2seq")
_CLIPPING = re.compile(r"clip|clamp|trainer|deepspeed|accelerat")


@Detector("Gradient clipping off", needs=("setting:clip",), family="clipping")
def config_no_clipping(case: Case, *, clip_without_effect: float = 1000.0) -> Detected:
    """Gradient clipping is switched off.

    Seen when the configuration names a clipping norm and sets it to 0, below 0, or so high
    ({clip_without_effect}) that it never acts. Stronger for recurrent nets, which need it most.

    Could not look when the configuration does not name it: absent is not the same as off.
    """
    clip = case.number("clip")
    if clip is None and case.word("clip") in ("false", "none", "off"):
        clip = 0.0
    if clip is None or clip != clip:
        return Skipped("the clipping norm as a number")
    if 0 < clip < clip_without_effect:
        return None
    recurrent = any(word in case.word("model") for word in _RECURRENT)
    sentence = f"Gradient clipping is off (clip = {text(clip)}; 0.5 to 5 is usual)."
    return Finding(sentence, strength=1.0 if recurrent else 0.7, numbers={"clip": clip})


@Detector(
    "Nearly all gradients clipped",
    needs=("grad_norm|grad_clip_share", "setting:clip|grad_clip_share|recording"),
    family="clipping",
)
def grad_all_clipped(
    case: Case,
    *,
    clipped_share: float = 0.95,
    throttled: float = 20.0,
    still_falls: float = 0.05,
    min_points: int = 10,
) -> Detected:
    """Nearly every step's gradient is clipped.

    Counts the steps whose gradient norm lies at or above the configured clipping norm, or takes the clipped
    share the log holds. With Adam and its kin this mostly does no harm, and it is usual in fine-tuning, so
    it is a sign; the further the usual norm lies above the threshold, the stronger. With plain SGD the steps
    are as much shorter as the norm is above the threshold: trouble from {throttled} times on where the loss
    still falls by {still_falls:%} within the last third, so that longer steps would have come further.

    Not seen as well in a recording that met no clipping, if its script speaks of none. Silent about norms in
    loss-scaler units (grad_scaled).
    Known mistakes: a clip setting that clips single values, not the norm.
    """
    logged, norms, clip = case.curve("grad_clip_share"), case.grad_norm, case.number("clip")
    if logged is not None and len(logged) >= min_points:
        part = float(np.median(logged.y)) / (100.0 if logged.y.max() > 1 else 1.0)
        if part > 1:
            return Skipped("the share of clipped steps: what is logged is no share")
        if part < clipped_share:
            return None
        sentence = f"The log says that {percent(part)} of the gradients are clipped."
        return Finding(sentence, series=logged.name, strength=0.7, numbers={"clipped_share": part})
    if clip is None and norms is not None and _never_clips(case):
        return None
    if norms is None or clip is None or len(norms) < min_points:
        return Skipped(f"the clipping norm and at least {min_points} values of the gradient norm")
    if clip <= 0:
        return None
    if scaled(case):
        return Skipped("gradient norms that are not multiplied by the loss scale")
    part = float((norms.y >= 0.999 * clip).mean())
    if part < clipped_share:
        return None
    middle = float(np.median(norms.y))
    sentence = (
        f"{percent(part)} of the logged gradient norms lie at or above the clipping norm {text(clip)}; "
        f"their median is {text(middle)}."
    )
    numbers = {"clip": clip, "grad_norm": middle, "clip_new": 2 * middle, "clipped_share": part}
    finding = Finding(
        sentence, series=norms.name, strength=strength(middle / clip, 1.0, 30.0), numbers=numbers
    )
    loss = case.loss
    falls = loss is not None and len(loss) >= 2 * min_points and loss.course.late_fall > still_falls
    if not falls or case.surrogate or optimizer_family(case) != "sgd" or middle < throttled * clip:
        return finding
    return replace(finding, symptom="slow_convergence", severity="medium", counts_as="clipping_starves")


def _never_clips(case: Case) -> bool:
    """Whether a recorded training calls no clipping of torch's, and its script has none of its own."""
    if not case.inside.optimizers or case.script is None or case.curve("grad_norm_clipped") is not None:
        return False
    return not speaks_of(case.script, _CLIPPING)


@Detector("Clipping stops the weights", needs=("update_ratio/*",), family="clipping_starves")
def clipping_starves(
    case: Case,
    grad_norm: Curve,
    *,
    kept_share: float = 0.05,
    max_update_ratio: float = 5e-4,
    min_unclipped_ratio: float = 5e-3,
    curve_bend: float = 0.3,
    min_points: int = 8,
) -> Detected:
    """Clipping leaves so little of the gradient that the weights hardly move.

    Compares the gradient norm before and after clipping, or with the norm it is clipped to. Seen when the
    middle step keeps {kept_share} of its gradient or less and even the largest step looked at changes the
    typical layer by less than {max_update_ratio} of itself. It is trouble when the loss hardly came down,
    falls like a ramp or falls to the end. Optimizers that rescale gradients (Adam) move on whatever is cut,
    and are then not seen here.

    Silent without clipping, and when the steps are of ordinary size.
    Known mistakes: a rate so low that steps would be small without clipping too.
    """
    _, values = ratios(case)
    if not values.size:
        return Skipped("samples of what a step changes")
    clipped, clip = case.curve("grad_norm_clipped"), case.number("clip")
    if clipped is None and clip is None:
        return Skipped("the gradient norm after clipping, or the norm it is clipped to")
    full = float(np.median(grad_norm.y))
    cut = min(full, clip or 0.0) if clipped is None else float(np.median(clipped.y))
    highest = float(values.max())
    unclipped = highest * full / cut if cut > 0 else 0.0
    if full <= 0 or cut > kept_share * full or highest > max_update_ratio or unclipped < min_unclipped_ratio:
        return None
    on_its_way = case.loss is not None and not case.surrogate and case.loss.course.still_falls()
    slow = case.harm.suffers or case.harm.slow(bend=curve_bend) or on_its_way
    return Finding(
        text=f"Clipping at {text(cut)} leaves {percent(cut / full)} of a typical gradient ({text(full)}): "
        f"the largest step seen changes the typical layer by {text(highest)} of its size.",
        symptom="slow_convergence" if slow else None,
        strength=strength(full / cut, 1 / kept_share, 1e3),
        numbers={"clip": cut, "grad_norm": full, "clip_new": 2 * full, "update_ratio": highest},
    )


def _clipped(before: float, after: float, ratio: float) -> Run:
    series = {f"update_ratio/{name}": [ratio] * 5 for name in (0, 2, 4)}
    norms = {"loss": [1.6] * 40, "grad_norm": [before] * 40, "grad_norm_clipped": [after] * 40}
    return run({**norms, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))


def cases() -> Cases:
    yield from config_no_clipping.fires(run({}, settings={"clip": 0.0}))
    yield from config_no_clipping.fires(run({}, settings={"clip": -1, "model": "lstm"}))
    yield from config_no_clipping.fires(run({}, settings={"clip": 1e9}))
    yield from config_no_clipping.silent(run({}, settings={"clip": 1.0}))
    yield from config_no_clipping.silent(run({}, settings={"clip": 0.1}))
    yield from config_no_clipping.silent(run({}, settings={"clip": "norm"}))
    yield from grad_all_clipped.fires(run({"grad_norm": noisy([5.0] * 50, 0.2)}, settings={"clip": 0.1}))
    yield from grad_all_clipped.fires(run({"grad_clip_share": [100.0] * 20}))
    yield from grad_all_clipped.silent(run({"grad_norm": noisy([0.3] * 50, 0.2)}, settings={"clip": 1.0}))
    yield from grad_all_clipped.silent(run({"grad_norm": noisy([5.0] * 50, 0.2)}, settings={"clip": 0.0}))
    huge = {"grad_norm": noisy([1e5] * 50, 0.2), "loss": decay(50, 5.0, 0.1)}
    yield from grad_all_clipped.silent(run(huge, settings={"clip": 1.0}))
    yield from grad_all_clipped.silent(run({"grad_clip_share": [0.0] * 20}))
    yield from clipping_starves.fires(_clipped(1.0, 0.001, 1e-5))
    yield from clipping_starves.silent(_clipped(1.0, 0.001, 0.005))
    yield from clipping_starves.silent(_clipped(1.0, 0.7, 1e-6))
    yield from clipping_starves.silent(_clipped(1.0, 0.03, 1e-7))
