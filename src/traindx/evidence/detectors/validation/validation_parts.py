"""Validation got worse, or stood still, while training went on improving.

Two forms. *Parts*: the validation loss (or, without one, a validation score) is best at some evaluation
and significantly worse at the end, against its own noise, while the training loss went on falling or lies
far below. *Gap opens*: validation has not improved for a good part of the run while the training loss
fell on, and the gap is wide. Tells the best evaluation and what its checkpoint would save.

Few evaluations need a larger rise: 30 % with three, 15 % with four or five; with one or two only a loss
ten times the training loss is told, as low (medium from 20 times on, at a level that is usual for losses). A
rise of the loss under a validation score that holds is overconfidence: it counts one degree less, and is low
where the score (or WER, CER, error rate) has improved since the loss was best.

The loss of a language model counts by its perplexity: a tenth more is trouble.

Low where nearly all of the validation data is answered right all the same, and when early stopping ended
the run within its patience and restored the best weights.

Silent when the training loss rises too (that is divergence), when the gap was there from the start (the
two losses may be defined differently), when validation came back down, and for RL and GAN losses.
Known mistakes: a validation set so small that its loss wanders is taken for a rise now and then; a
learning-rate restart late in the run can look like a parting until the rate has come down again.
"""

from dataclasses import replace

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text, times, where
from traindx.evidence.validation import (
    Turn,
    evaluations,
    holding_score,
    last_level,
    levels_at,
    running_median,
    steps_on,
    turn_of,
    validation_curves,
)
from traindx.testing.sketch import decay, noisy, run

# Rises of the validation loss, and their z, that count where noise hides whether training still improves.
_CLEAR_RISES = ((0.15, 15.0), (0.5, 8.0))

DETECTOR = Detector(
    title="Validation parts from training",
    needs=("val/*|test/*|map|map50|hit_rate|ndcg|mrr|bleu|rouge|exact_match",),
    family="generalisation",
    guards=("surrogate",),
    harms="generalising",
)


def detect(
    case: Case,
    loss: Curve,
    *,
    rise_share: float = 0.03,
    z_score: float = 4.0,
    medium_rise: float = 0.05,
    high_rise: float = 0.30,
    stalled_share: float = 0.25,
    train_fall: float = 0.10,
    train_gap: float = 0.25,
) -> Detected:
    if not len(loss):
        return Skipped("a training loss")
    watched = next(iter(validation_curves(case)), None)
    if watched is None or len(watched) < 3:
        finding = _apart(loss, watched) if watched is case.val_loss else None
        return finding or Skipped("at least three evaluations on validation data")
    turn = turn_of(watched)
    needed = max(rise_share if turn.lost < 0.1 else rise_share / 3, _least(len(watched)))
    parted = None
    if turn.relative >= needed and turn.z >= z_score:
        before, now, fell = _training_since(loss, watched, turn)
        if fell:
            parted = _parted(case, watched, turn, (before, now), medium_rise, high_rise)
    stalled = None
    if parted is None or parted.severity == "low":
        stalled = _stalled(case, loss, watched, stalled_share, train_fall, train_gap)
    finding = stalled if parted is None or (stalled and stalled.severity != "low") else parted
    since_best = int((watched.x > watched.best_point[0]).sum())
    if finding is not None and since_best <= case.inside.patience:
        return replace(finding, severity="low")
    return finding


def _least(evaluations: int) -> float:
    """The least rise that few evaluations can show."""
    return 0.3 if evaluations <= 3 else 0.15 if evaluations <= 5 else 0.08 if evaluations <= 7 else 0.0


def _training_since(train: Curve, val: Curve, turn: Turn) -> tuple[float, float, bool]:
    """Training loss when validation was best and at the end, and whether it improved meanwhile."""
    here = float(np.interp(turn.step, val.x, steps_on(val, train)))
    middle = int(np.searchsorted(train.x, here, side="right"))
    half = max(1, len(train) // 20)
    around = train.y[max(0, middle - half) : max(middle + half, 1)]
    now = last_level(train.y)
    before = float(np.median(around)) if len(train) >= 20 else float(levels_at(train, np.array([here]))[0])
    error = 1.25 * train.noise * np.sqrt(1.0 / max(around.size, 1) + 10.0 / max(len(train), 10))
    share = max(0.02, min(0.3 * turn.relative, 0.15))
    fell = before - now > max(share * abs(before), 2.0 * error)
    rose = now - before > max(0.02 * abs(before), 3.0 * error)
    memorised = 0 <= now <= 0.5 * turn.last and now <= 0.5 * train.head and val.goal != "higher"
    clearly = any(turn.relative >= rise and turn.z >= z for rise, z in _CLEAR_RISES) and train.trend.z < -2.0
    return before, now, bool(fell or ((memorised or clearly) and not rose))


def _parted(
    case: Case, val: Curve, turn: Turn, training: tuple[float, float], medium: float, high: float
) -> Finding:
    grade: Severity = "high" if turn.relative >= high else "medium" if turn.relative >= medium else "low"
    if grade == "low" and val is case.val_loss and case.task.predicts_tokens and turn.last - turn.best >= 0.1:
        grade = "medium"  # a tenth more perplexity
    holding = holding_score(case, turn.step) if val.goal != "higher" else None
    if holding is not None:
        improves = holding_score(case, turn.step, improved=True) is not None
        grade = "medium" if turn.relative >= 0.5 * high and not improves else "low"
    if len(val) < 8 and grade == "high":
        grade = "medium"
    sign = -1.0 if val.goal == "higher" else 1.0
    (best_step, best), last = val.best_point, turn.level
    changed = "fallen" if sign < 0 else "risen"
    metric = val.name.replace("val/", "validation ").replace("test/", "test ").replace("loss/", "")
    change = abs(last - best) / abs(best) if best else turn.relative
    words = (
        f"The {metric} was best at {where(val, best_step)} ({text(best)}) and has {changed} by "
        f"{percent(change)} since, to {text(last)}, while the training loss went from "
        f"{text(training[0])} to {text(training[1])}."
    )
    if holding is not None:
        words += f" {holding.name} has not fallen with it: the model grows overconfident rather than wrong."
    return Finding(
        words,
        "overfitting",
        grade,
        step=turn.step,
        end=float(val.x[-1]),
        series=val.name,
        strength=strength(turn.relative, 0.01, 0.3),
        numbers={
            "val_best": best,
            "val_best_step": best_step,
            "val_last": last,
            "val_rise": turn.relative,
            "val_z": round(turn.z, 1),
            "gap": last - training[1] if val.goal != "higher" else abs(best - last),
        },
        marks=(turn.step,),
    )


def _stalled(
    case: Case, train: Curve, val: Curve, stalled_for: float, fall: float, gap: float
) -> Finding | None:
    """Validation stands still over the last part of the run, training falls on, and the gap is wide."""
    if val is not case.val_loss or len(val) < 6 or not ((val.y > 0).all() and (train.y > 0).all()):
        return None
    steps, values = evaluations(val)
    values = running_median(values, 3)
    level = float(np.median(values[-max(3, values.size // 10) :]))
    since = int((values <= 1.02 * level).argmax())
    way = float(steps[-1] - steps[0])
    share = float(steps[-1] - steps[since]) / way if way > 0 else 0.0
    training = levels_at(train, np.interp(steps, val.x, steps_on(val, train)))
    then, now = float(training[since]), last_level(train.y)
    fell = 1.0 - now / then
    ratio = now / level
    opened = float(training[0] / values[0]) - ratio
    slack = 2.5 * train.noise / np.sqrt(max(len(train) // 10, 1)) / then
    if share < stalled_for or fell < max(fall, slack) or ratio > 1.0 - gap or opened < 0.15:
        return None
    if float(np.ptp(values[since:])) > 0.5 * level or val.y[-1] < 0.9 * val.y[:-1].min():
        return None
    holding = holding_score(case, float(steps[since]), improved=True)
    # Half of the run brought validation nothing while training lost a third of its loss; or the whole run.
    at_all = case.level.confirmed is False and share >= 0.8
    serious = holding is None and (at_all or (fell >= 0.35 and share >= 0.5 and ratio <= 0.6))
    start = float(steps[since])
    best_step, best = val.best_point
    return Finding(
        f"The validation loss has not improved since {where(val, start)} ({text(float(values[since]))} then, "
        f"{text(level)} now), while the training loss fell by {percent(fell)} to {text(now)}: the gap opens.",
        "overfitting",
        "medium" if serious else "low",
        step=start,
        end=float(val.x[-1]),
        series=val.name,
        strength=strength(fell, fall, 0.8),
        numbers={
            "val_best": best,
            "val_best_step": best_step,
            "val_last": level,
            "gap": level - now,
            "train_fell": fell,
        },
        marks=(start,),
    )


def _apart(train: Curve, val: Curve | None) -> Finding | None:
    """One or two evaluations tell nothing of the way there; only a very wide gap is worth a word."""
    if val is None or not len(val) or not len(train):
        return None
    now, held_out = float(train.y[-1]), float(val.y[-1])
    if not 0.0 < now <= 0.1 * held_out:
        return None
    sentence = (
        f"The last validation loss ({text(held_out)}) is {times(held_out / now)} the last training loss "
        f"({text(now)}); too few evaluations are logged to see when they parted."
    )
    numbers = {"val_last": held_out, "gap": held_out - now}
    severity: Severity = "medium" if held_out >= 20.0 * now and 0.5 <= held_out <= 15.0 else "low"
    return Finding(
        sentence, "overfitting", severity, float(val.x[-1]), series=val.name, strength=0.5, numbers=numbers
    )


def fires() -> Runs:
    up = np.concatenate([decay(20, 2.0, 0.8), np.linspace(0.8, 1.4, 40)])
    yield run({"loss": noisy(decay(60, 2.0, 0.1), 0.02), "val/loss": noisy(up, 0.03, seed=1)}, axis="epoch")
    train = noisy(decay(6000, 2e-6, 1e-7), 0.2)
    yield run({"loss": train, "val/loss": (np.arange(60) * 100, noisy(1e-6 * up, 0.02, seed=2))})
    yield run({"loss": [1.1, 0.6, 0.2], "val/loss": [1.2, 1.4, 1.9]}, axis="epoch")
    falls_on = [1.14, 0.64, 0.52, 0.45, 0.40, 0.36, 0.32, 0.30, 0.27, 0.26]
    val = [0.66, 0.555, 0.518, 0.494, 0.489, 0.485, 0.487, 0.491, 0.491, 0.492]
    yield run({"loss": falls_on, "val/loss": val}, axis="epoch")
    falls = np.concatenate([np.linspace(40.0, 80.0, 20), np.linspace(80.0, 68.0, 30)])
    yield run({"loss": decay(50, 2.0, 0.1), "val/accuracy": noisy(falls, 0.8, relative=False)}, axis="epoch")


def silent() -> Runs:
    train, val = decay(60, 2.0, 0.5), decay(60, 2.1, 0.6)
    yield run({"loss": noisy(train, 0.02), "val/loss": noisy(val, 0.05, seed=1)}, axis="epoch")
    worse = np.concatenate([decay(20, 2.0, 0.8), np.linspace(0.8, 3.0, 40)])
    yield run({"loss": noisy(worse, 0.02), "val/loss": noisy(worse, 0.02, seed=1)}, axis="epoch")
    flat = np.full(30, 12.4)
    yield run({"loss": noisy(np.full(30, 3.1), 0.01), "val/loss": noisy(flat, 0.02, seed=1)}, axis="epoch")
    yield run({"loss": decay(8, 2.0, 0.4), "val/loss": [1.5, 1.2, 0.9, 0.95, 0.8, 0.86, 0.75, 0.8]})
    yield run({"loss": decay(4, 2.0, 1.4), "val/loss": [1.8, 1.6, 1.5, 1.53]}, axis="epoch")
    yield run({"loss": worse, "val/loss": worse}, traits=("gan",))
