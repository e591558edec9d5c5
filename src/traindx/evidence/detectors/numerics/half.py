"""Half precision: what is lost and hidden in it."""

import re

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text, where
from traindx.evidence.sampled import late
from traindx.testing.sketch import decay, run

_HALF = re.compile(r"(?<![a-z0-9])(?:fp16|float16|f16|half|16|o[123]|amp_fp16)(?![0-9])")
_PURE = re.compile(r"16-true|half|float16(?!.*mixed)|(?<![a-z])o3")


@Detector("Half precision (fp16)", needs=("setting:precision|setting:fp16|loss_scale",), family="precision")
def config_half_precision(case: Case, *, mixed_strength: float = 0.7) -> Detected:
    """Training computes in fp16.

    Reads the precision settings (`fp16`, `amp`, `16-mixed`, `float16`), or a logged loss scale above 1,
    which only fp16 needs. Weights kept in fp16 as well (`16-true`, `half`) make the sign stronger.

    Silent for bf16 and fp32.
    Known mistakes: `amp: true` with nothing else is taken as fp16, the default of automatic mixed
    precision, but a script may have chosen bf16.
    """
    precision = case.word("precision")
    flag = case.word("fp16") in ("true", "1", "o1", "o2", "o3", "fp16", "apex", "amp")
    brain = "bf16" in precision or "bfloat16" in precision or case.word("bf16") == "true"
    if brain:
        return None
    if flag or _HALF.search(precision):
        pure = not flag and bool(_PURE.search(precision))
        description = precision if _HALF.search(precision) else "mixed precision"
        sentence = f"Training computes in fp16 ({description}): its largest number is 65504."
        return Finding(sentence, strength=1.0 if pure else mixed_strength, numbers={"precision": "fp16"})
    scale = case.curve("loss_scale")
    if scale is not None and len(scale) and float(np.median(scale.y)) > 1:
        return Finding(
            text=f"The loss is scaled by {text(float(scale.y[-1]))}, as only fp16 needs it.",
            series="loss_scale",
            strength=mixed_strength,
            numbers={"precision": "fp16", "loss_scale": float(scale.y[-1])},
        )
    return None


@Detector("Updates rounded away", needs=("update_lost_share/*",), family="updates_lost")
def updates_lost(
    case: Case, *, lost_share: float = 0.8, lost_share_at_end: float = 0.75, min_samples: int = 2
) -> Detected:
    """Half precision rounds most updates away.

    Weights in bf16 or fp16 have two to three digits: an update below 0.2 to 0.4 % (bf16) of a weight leaves
    it as it was. Seen when, in the middle of the looks, {lost_share} of the weights that have a gradient do
    not change in a step, or three quarters of them ({lost_share_at_end}) in the last looks under a rate that
    was not lowered. Training then stands still although gradients and rate are fine.

    Silent about weights in full precision (autocast keeps them so), and about rates of 0. Known mistakes:
    optimizers that keep a copy in full precision aside lose nothing for good; the weights then move every
    few steps.
    """
    curves = {n: c for n, c in case.inside.layers("update_lost_share").items() if len(c) >= min_samples}
    if not curves or not case.lr_value:
        return Skipped(f"{min_samples} samples of weights in half precision under a rate that is not 0")
    lost = {name: float(np.median(curve.y)) for name, curve in curves.items()}
    typical = float(np.median(list(lost.values())))
    if typical < lost_share and not _lowered(case):
        at_end = {name: late(curve) for name, curve in curves.items() if len(curve) >= 3 * min_samples}
        typical_end = float(np.median(list(at_end.values()))) if at_end else 0.0
        lost, typical, lost_share = (
            (at_end, typical_end, lost_share_at_end)
            if typical_end >= lost_share_at_end
            else (lost, typical, lost_share)
        )
    if typical < lost_share:
        return None
    worst = max(lost, key=lambda name: lost[name])
    return Finding(
        text=f"{percent(typical)} of the weights that have a gradient do not change in a step: updates "
        f"are below the resolution of half precision (most of all in `{worst}`: {percent(lost[worst])}).",
        symptom="silent_defect",
        severity="high" if case.harm.suffers else "medium",
        step=float(curves[worst].x[0]),
        series=curves[worst].name,
        strength=strength(typical, 0.5, lost_share),
        numbers={"lost_share": typical},
        places=(Place(layer=worst),),
    )


def _lowered(case: Case) -> bool:
    """Whether the rate fell: small late steps are then wanted."""
    return case.lr is not None and len(case.lr) > 0 and case.lr.tail < 0.7 * float(case.lr.y.max())


def _lost(share: float, lr: float = 1e-5) -> Run:
    series = {f"update_lost_share/{name}": [share] * 5 for name in (0, 2, 4)}
    return run({"loss": [1.6] * 40, **series}, settings={"lr": lr})


@Detector(
    "Zero loss in place of NaN",
    family="nonfinite",
    explains=("plateau", "loss_flat", "loss_frozen", "memorised_unvalidated", "slow_decline"),
    guards=("surrogate", "preference"),
)
def loss_masked_nan(case: Case, loss: Curve, *, min_zeros: int = 3, fell_below: float = 0.02) -> Detected:
    """A loss of exactly 0.0 that stands for NaN.

    Hugging Face's trainer replaces a NaN loss by zero when it logs (`logging_nan_inf_filter`), so a dead run
    shows 0.0 to the last digit from some step on, mostly with a gradient norm of NaN or 0. Other trainers
    that skip bad batches do alike.

    Silent for reinforcement and preference learning, where zero is an ordinary value; for losses that came
    down to zero by themselves, or were zero before and came back (a margin that is kept); for single zeros;
    when the loss and the gradient norm are 0 from the first step on (see loss_zero); and when a validation
    loss or another measure of the error stays finite and moves.
    """
    values = loss.series.values
    zero = values == 0.0
    if not zero.size or not zero[-1]:
        return None
    last_good = np.flatnonzero(~zero)
    first = int(last_good[-1]) + 1 if last_good.size else 0
    count = values.size - first
    if count < min_zeros:
        return None
    norms = case.run.series.get("grad_norm")
    dead = False
    if norms is not None:
        after = norms.values[norms.steps >= loss.series.steps[first]]
        dead = bool(after.size) and bool(((after == 0) | ~np.isfinite(after)).mean() > 0.5)
    before = values[:first][np.isfinite(values[:first])]
    never = first == 0 and norms is not None and bool((norms.values == 0).all())
    if never or _goes_on(case, float(loss.series.steps[first])):
        return None
    came_back = int((before == 0.0).sum()) >= 2
    fell_there = before.size >= 3 and float(np.median(before[-3:])) < fell_below * float(before.max())
    if came_back or fell_there or (not before.size and not dead):
        return None
    onset = float(loss.series.steps[first])
    led = f" after {before[-1]:.4g}" if before.size else ""
    signs = ", with gradient norms of NaN or 0" if dead else ""
    text = f"The loss is exactly 0 from {where(loss, onset)} on{led} ({count} values{signs}): a hidden NaN."
    strength = 1.0 if dead or "hf-trainer" in case.run.formats else 0.8
    return Finding(text, "nonfinite", "critical", onset, strength=strength, marks=(onset,))


def _goes_on(case: Case, onset: float) -> bool:
    """Whether other measures of the loss stay finite and move: then the logged zero is something else."""
    for curve in (case.val_loss, case.curve("mse"), case.curve("perplexity"), case.val("perplexity")):
        if curve is not None and (later := curve.y[curve.x > onset]).size >= 2 and np.ptp(later) > 0:
            return True
    return False


def cases() -> Cases:
    yield from config_half_precision.fires(run({}, settings={"precision": "fp16", "fp16": True}))
    yield from config_half_precision.fires(run({}, settings={"precision": "float32", "fp16": True}))
    yield from config_half_precision.fires(run({}, settings={"precision": "16-mixed"}))
    yield from config_half_precision.fires(run({"loss_scale": [65536.0, 32768.0]}))
    yield from config_half_precision.silent(run({}, settings={"precision": "bf16-mixed"}))
    yield from config_half_precision.silent(run({}, settings={"precision": "amp_bf16"}))
    yield from config_half_precision.silent(run({}, settings={"precision": "float32", "fp16": False}))
    yield from config_half_precision.silent(run({"loss_scale": [1.0, 1.0]}))
    yield from updates_lost.fires(_lost(0.97))
    yield from updates_lost.silent(_lost(0.3), _lost(1.0, lr=0.0))
    yield from loss_masked_nan.fires(run({"loss": [*decay(30, 2.0, 0.8), *[0.0] * 20]}))
    yield from loss_masked_nan.fires(run({"loss": [0.0] * 20, "grad_norm": [float("nan")] * 20}))
    yield from loss_masked_nan.silent(
        run({"loss": [0.0] * 20, "reward": [1.0] * 20}, traits=("rl",)),
        run({"loss": [*decay(30, 2.0, 0.001, rate=12), *[0.0] * 10]}),
        run({"loss": [*decay(20, 0.5, 0.02), 0.0, 0.03, 0.0, 0.0, 0.02, 0.05, 0.0, 0.0, 0.0, 0.0]}),
    )
