"""Steps that are left out, or taken in the wrong mode."""

from dataclasses import replace

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Event, Finding, Skipped
from traindx.evidence.detectors._modes import what_modes_change, with_dropout
from traindx.evidence.detectors._number_text import percent, strength, text, where
from traindx.testing.sketch import decay, noisy, run

_MANAGED = {
    "hf-trainer": "The Hugging Face trainer",
    "keras": "Keras",
    "lightning": "Lightning",
    "llamafactory": "LLaMA-Factory",
    "ultralytics": "Ultralytics",
    "detectron2": "Detectron2",
}
# How surely the format tells that the framework ran the loop, where it does not fully.
_SURENESS = {"lightning": 0.8, "keras": 0.4}


@Detector("Optimizer steps skipped", family="overflow")
def steps_skipped(
    case: Case, *, skipped_share: float = 0.02, large_share: float = 0.2, allowed_at_start: int = 20
) -> Detected:
    """A notable share of the optimizer steps was skipped.

    Counts skipped or NaN steps that the log reports, or the overflows it reports, against all steps. A loss
    scaler skips a handful at the start and about one in a thousand or two later on; seen when it is
    {skipped_share} of all or more and clearly more than that start.

    Silent when the count cannot be one of steps (more skipped than made).
    Known mistakes: a log reports at most 200 overflows, so long runs may have skipped more.
    """
    begin, end = case.span
    steps = end - begin
    counts = [_total(curve) for name in ("skipped_steps", "nan_steps") if (curve := case.curve(name))]
    overflows = [e for e in case.run.events if e.kind == "overflow"]
    if not counts and not overflows:
        return Skipped("skipped steps (skipped_steps) or overflow messages in the log")
    if case.run.axis != "step" or steps < 1:
        return Skipped("a log that counts steps")
    total = max([*counts, float(len(overflows))])
    part = total / steps
    if part > 1 or total <= allowed_at_start or part < skipped_share:
        return None
    first = next((e.step for e in overflows if e.step is not None), None)
    return Finding(
        text=f"{text(total)} of {text(steps)} steps ({percent(part)}) were skipped: overflow or NaN.",
        symptom="nonfinite",
        severity="high" if part >= large_share else "medium",
        step=first,
        series="skipped_steps" if counts else None,
        strength=strength(part, skipped_share, large_share),
        numbers={"skipped_share": percent(part), "skipped": total},
    )


def _total(curve: Curve) -> float:
    """The number at the end of a running count, else the sum of the counts."""
    values = curve.y
    if not values.size or values.min() < 0:
        return 0.0
    running = values.size > 1 and bool((np.diff(values) >= 0).all()) and values[-1] > 0
    return float(values[-1]) if running else float(values.sum())


@Detector("Trains in eval mode", needs=("fact:models",), family="mode")
def trains_in_eval_mode(case: Case, *, step_share: float = 0.2, min_steps: int = 5) -> Detected:
    """The model trains in eval mode, though it has dropout or batch norm.

    Told by the mode in which optimizer steps are taken. Mostly `eval()` was called for a validation and
    `train()` not after it: from the second epoch on dropout is off and batch norm does not learn its
    statistics.

    Silent when modes change nothing (no dropout, no batch norm), when the stretch is short, and about single
    modules that are kept in eval mode on purpose (frozen batch norm).
    """
    noun = what_modes_change(case)
    if not noun:
        return Skipped()
    begin, end = case.span
    modes = [(e.step, e.data.get("training")) for e in case.inside.events("mode") if e.step is not None]
    ends = [*(step for step, _ in modes[1:]), end + 1]
    count = sum(
        until - step for (step, training), until in zip(modes, ends, strict=False) if training is False
    )
    whole = end - begin + 1
    if count < min_steps or count < step_share * whole:
        return None
    since = next(step for step, training in modes if training is False)
    return Finding(
        f"{text(count)} of {text(whole)} steps ({percent(count / whole)}) are taken in eval mode, since step "
        f"{text(since)}: {noun} {'are' if ' and ' in noun else 'is'} not at work while the model trains.",
        "silent_defect",
        "high" if "norm" in noun else "medium",
        since,
        numbers={"eval_share": percent(count / whole)},
        marks=(since,),
    )


@Detector("Worse since a resume", family="resume", guards=("surrogate",))
def worse_since_resume(
    case: Case,
    loss: Curve,
    val_loss: Curve,
    *,
    near_share: float = 0.05,
    min_after: int = 4,
    min_points: int = 8,
) -> Detected:
    """Validation was best right before a resume and is worse since, while training goes on falling.

    A run that was continued from a checkpoint with its whole state goes on as it was. Seen when the best of
    {min_points} or more evaluations lies at the resume or up to {near_share:%} of the run before it, the
    median of the last ones is worse than that of as many before it, by more than their noise, and the
    training loss is lower than at the resume: the data began anew, or something of the state (order of the
    data, random generators, schedule) was not restored.

    Silent when the log reports no resume, and when fewer than {min_after} evaluations follow it.
    """
    resumes = [step for step in case.events("resume") if step > val_loss.x[0]]
    if not resumes:
        return None
    if val_loss.axis != case.run.axis or loss.axis != case.run.axis:
        return Skipped("losses on the axis of the resume")
    best_step, best = val_loss.best_point
    reach = near_share * float(val_loss.x[-1] - val_loss.x[0])
    for resume in resumes:
        after, before = val_loss.after(resume), val_loss.before(resume)
        width = min(after.size, before.size, 2 * min_after)
        if after.size < min_after or width < min_after or not resume - reach <= best_step <= resume:
            continue
        rise = float(np.median(after[-width:]) - np.median(before[-width:]))
        if rise < max(0.01 * abs(float(before[-1])), 3 * val_loss.noise) or not loss.tail < loss.at(resume):
            continue
        return Finding(
            f"The validation loss was best at {where(val_loss, best_step)}, right before the run was resumed "
            f"({where(val_loss, resume)}), and has risen since, from {text(float(before[-1]))} to "
            f"{text(float(after[-1]))}, while the training loss fell to {text(loss.tail)}.",
            step=resume,
            series=val_loss.name,
            numbers={"last": float(after[-1]), "best": best},
        )
    return None


@Detector("A framework runs the loop", family="loop")
def config_managed_loop(case: Case) -> Detected:
    """A framework runs the training loop.

    Keras, Lightning, the Hugging Face trainer, LLaMA-Factory and Ultralytics zero the gradients, set train
    and eval mode and divide accumulated losses by themselves, so slips in a hand-written loop are unlikely.
    Told by the format of the log.

    Silent for logs that anybody may write (CSV, JSON, TensorBoard, text). A table of epochs, losses and
    accuracies that looks as if Keras wrote it may be written by anybody too: it counts less than half.
    Known mistake: Lightning allows loops by hand (manual optimisation), which the log does not tell.
    """
    name = next((form for form in case.run.formats if form in _MANAGED), None)
    if name is None:
        return Skipped()
    seems = "seems to run" if _SURENESS.get(name, 1.0) < 0.5 else "runs"
    text = f"{_MANAGED[name]} {seems} the loop (its log has {case.run.points:,} points): it zeroes gradients."
    return Finding(text, strength=_SURENESS.get(name, 1.0))


def cases() -> Cases:
    yield from steps_skipped.fires(run({"loss": [1.0] * 400, "skipped_steps": np.arange(400) // 4}))
    overflows = [Event("overflow", "OVERFLOW!", float(n)) for n in range(0, 300, 5)]
    yield from steps_skipped.fires(run({"loss": [1.0] * 300}, events=overflows))
    yield from steps_skipped.silent(
        run({"loss": [1.0] * 400, "skipped_steps": [0.0] * 400}),
        run({"loss": [1.0] * 40}, events=[Event("overflow", "OVERFLOW!", float(n)) for n in range(12)]),
        run({"loss": [1.0] * 400, "skipped_steps": np.arange(400) * 7}),
        run({"loss": [1.0] * 4000, "skipped_steps": np.arange(4000) // 1000}),
    )
    yield from trains_in_eval_mode.fires(
        with_dropout([Event("mode", "the model trains in eval mode", 17.0, {"training": False})])
    )
    off = Event("mode", "the model trains in eval mode", 17.0, {"training": False})
    yield from trains_in_eval_mode.silent(
        with_dropout([]),
        with_dropout([off], dropout=0.0),
        with_dropout([off, Event("mode", "the model trains in training mode", 20.0, {"training": True})]),
    )
    val = np.concatenate([decay(60, 4.6, 2.6), np.linspace(2.61, 2.77, 20)])
    train = np.concatenate([decay(60, 4.6, 2.57), np.linspace(2.5, 2.15, 20)])
    curves = {"loss": noisy(train, 0.005), "val/loss": noisy(val, 0.002, seed=1)}
    yield from worse_since_resume.fires(run(curves, events=[Event("resume", "resume from ckpt", 59.0)]))
    falls = decay(80, 4.6, 2.4)
    curves = {"loss": noisy(falls, 0.005), "val/loss": noisy(falls, 0.002, seed=1)}
    yield from worse_since_resume.silent(run(curves, events=[Event("resume", "resume from ckpt", 59.0)]))
    val = np.concatenate([decay(30, 4.6, 2.6), np.linspace(2.61, 2.9, 50)])
    overfits = {"loss": noisy(decay(80, 4.6, 1.9), 0.005), "val/loss": noisy(val, 0.002, seed=1)}
    yield from worse_since_resume.silent(run(overfits, events=[Event("resume", "resume from ckpt", 59.0)]))
    yield from config_managed_loop.fires(replace(run({"loss": decay(20, 2.0, 1.0)}), formats=("keras",)))
    yield from config_managed_loop.silent(replace(run({"loss": decay(20, 2.0, 1.0)}), formats=("csv",)))
    yield from config_managed_loop.silent(replace(run({"loss": decay(20, 2.0, 1.0)}), formats=("text",)))
