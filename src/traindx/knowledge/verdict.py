"""Why a run counts as healthy; what to log when the evidence is insufficient."""

from __future__ import annotations

import numpy as np

from traindx.core.facts import word
from traindx.core.number_text import short
from traindx.evidence.case import Case, Curve
from traindx.evidence.examine import Examination
from traindx.evidence.scores import SCORES

_WANTED = (
    ("loss", "the training loss at least 20 times a run (loss)"),
    ("val/loss", "the validation loss at least once an epoch (val/loss)"),
    ("lr|setting:lr", "the learning rate (lr)"),
    ("grad_norm", "the global gradient norm (grad_norm)"),
    ("accuracy|val/*", "a metric that people understand (accuracy, F1, ...)"),
)


def reasons_for_health(case: Case, examination: Examination) -> tuple[str, ...]:
    """What was measured and is as it should be."""
    reasons = []
    values = sum(len(series) for series in case.run.series.values())
    broken = sum(int((~np.isfinite(s.values)).sum()) for s in case.run.series.values())
    if not case.surrogate:
        reasons += _fell("The training loss", case.loss)
        reasons += _fell("The validation loss", case.val_loss)
        if not reasons:
            reasons += _rose("The accuracy", case.curve("accuracy") or case.val("accuracy"))
    else:
        reasons.append("The loss of this kind of training (RL, GAN) is a surrogate: it was not judged.")
        reasons += _rose("The reward", case.part_of("reward"))
    reasons += _level(case)
    if values and not broken:
        reasons.append(f"All {values:,} logged values are finite.")
    reasons += _steady(case)
    ran = sum(check.status == "ran" for check in examination.checks)
    reasons.append(f"{ran} checks were made; none found a problem of medium severity or more.")
    return tuple(reasons)


def nothing_judged(case: Case) -> bool:
    """Whether no curve shows that anything is learned: a surrogate loss alone, or one that hardly fell.

    What a program printed is not enough where it was recorded and no step of its training was seen.
    """
    if unseen_framework(case) is not None or case.inside.checked:
        return True
    scores = [
        curve
        for name in ("reward", "score", *SCORES)
        for curve in (case.part_of(name), case.val(name))
        if curve is not None
    ]
    if case.surrogate:
        rewards = [curve for curve in scores if "reward" in curve.name and len(curve) >= 6]
        if rewards:
            return not all(map(_holds_up, rewards))
        return not any(len(curve) >= 6 and _holds_up(curve) for curve in scores)
    losses = [curve for curve in (case.loss, case.val_loss) if curve is not None and len(curve) >= 3]
    if any(curve.course.improved() for curve in losses):
        return False
    return not any(len(curve) >= 3 and curve.tail > curve.head + 2 * curve.noise for curve in scores)


def _holds_up(curve: Curve) -> bool:
    """Whether a score ends clearly above where it began, or at the best it reached."""
    part = max(2, len(curve) // 3)
    begin, end = float(np.median(curve.y[: max(1, part // 2)])), float(np.median(curve.y[-part:]))
    spread = float(np.ptp(curve.y))
    if spread <= 1e-6 * abs(end):
        return end != 0.0
    rises = end - begin > 0.25 * spread
    return rises or (end - float(curve.y.min()) > 0.8 * spread and curve.trend.z > -2.0)


def unseen_framework(case: Case) -> str | None:
    """The framework of a recording without a single training step; None where steps were seen."""
    framework = case.inside.fact("framework")
    return str(framework.get("name", "")) if framework.get("steps") == 0 else None


def what_to_log(case: Case, examination: Examination) -> tuple[str, ...]:
    """What evidence is missing, and what to log for the checks that could not be made."""
    if case.inside.checked:
        return tuple(filter(None, (word(case.inside.checked, "more"),)))
    if not case.run.series and case.script is not None:
        return ("Only the source was read: record a run (traindx run), or give its log, to judge it.",)
    unseen = unseen_framework(case)
    if unseen is not None:
        return (
            f"No training step {f'of {unseen} ' if unseen else ''}was seen: nothing wrong shows in what was "
            "printed, which says little.",
        )
    thin = next((f.text for f in examination.findings if f.id == "run_too_short"), None)
    missing = [
        text for need, text in _WANTED if not case.has(need) and not (case.surrogate and "loss" in need)
    ]
    lines = [thin] if thin else []
    stop = case.harm.undecided
    if stop is not None:
        lines.append(
            f"The loss has stood at {short(stop.level)} for {stop.share:.0%} of the run: whether that is the "
            "floor of the task or a training that is stuck, this log does not show. " + _decides(case)
        )
    elif case.harm.unfinished and case.loss is not None:
        lines.append(
            f"The loss stood still at first and still fell by {case.loss.course.late_fall:.0%} within the "
            "last third: the run ended before it showed what it can reach. Let it run longer."
        )
    elif not case.surrogate and not thin and (nothing_judged(case) or case.harm.hardly_moved):
        lines.append(
            "The loss hardly moved: a run that starts good looks the same as one that does not learn."
        )
    elif not thin and case.level.confirmed is False:
        lines.append(_not_confirmed(case))
    if case.surrogate:
        reward = case.part_of("reward")
        lines.append(
            "The loss of RL and GAN training is a surrogate: its course says nothing about progress"
            + (
                f", and the reward does not rise ({short(reward.head)} to {short(reward.tail)} in "
                f"{len(reward):,} points)."
                if reward is not None and len(reward) >= 6 and not _holds_up(reward)
                else "."
            )
        )
    if not lines:
        lines.append("Something small leaves it open: see what was noticed.")
    if missing:
        lines.append(f"Log {'; '.join(missing)}.")
    elif stop is None and not case.harm.unfinished:
        lines.append("Let it run longer, or log more often, and diagnose again.")
    return tuple(lines)


def _not_confirmed(case: Case) -> str:
    """That validation shows nothing that was learned."""
    val = case.val_loss
    seen = "No score on validation data rose"
    if val is not None and len(val):
        ends = f"{short(float(val.y[0]))} at the first, {short(val.tail)} at the end"
        seen = f"The validation loss did not come down in {len(val):,} evaluations ({ends})"
    return f"{seen}, and no score says that the model is good: that anything was learned does not show."


def _decides(case: Case) -> str:
    """What would tell a floor from a training that is stuck."""
    compared = case.level.against_simple
    if compared is not None:
        right = "of the answers are right" if compared.classes else "of the variance is explained"
        return (
            f"{compared.reached:.0%} {right}, and a straight line or neighbours reach {compared.simple:.0%}: "
            "the targets hardly follow from the inputs, or nothing finds it. Check samples with their "
            "targets as they reach the model; traindx preflight tests whether inputs and labels matter."
        )
    score = "" if case.level.scores else "A score (accuracy, F1, R2) would help. "
    return (
        f"{score}What others reach on this data would decide it; so would a few epochs at a tenth of the "
        "learning rate."
    )


def _fell(subject: str, curve: Curve | None) -> list[str]:
    if curve is None or len(curve) < 3:
        return []
    first, last = curve.head, curve.tail
    ends = f"{short(first)} to {short(last)} in {len(curve):,} points"
    if not last < first:
        return [f"{subject} went from {ends}, without a problem that exceeds its noise."]
    share = f" ({(first - last) / first:.0%})" if first > 0 and last > 0 else ""
    return [f"{subject} fell from {ends}{share} and {_end(curve)}."]


def _end(curve: Curve) -> str:
    if len(curve) >= 12 and curve.course.late_fall > 0.01 and curve.course.late_fall_z > 3:
        return f"is still falling, by {curve.course.late_fall:.1%} within its last third"
    if curve.best >= curve.tail - 2 * curve.noise:
        return "ends within its noise of its best"
    if curve.best > 0 and curve.tail <= 1.1 * curve.best:
        return "stays near its best"
    return f"was best at {short(curve.best)}"


def _rose(subject: str, curve: Curve | None) -> list[str]:
    if curve is None or len(curve) < 3 or not curve.tail > curve.head:
        return []
    return [f"{subject} rose from {short(curve.head)} to {short(curve.tail)} in {len(curve):,} points."]


def _steady(case: Case) -> list[str]:
    norm = case.grad_norm
    if norm is None or len(norm) < 8 or norm.broken:
        return []
    low, high = np.quantile(norm.y, (0.05, 0.95))
    return [
        f"The gradient norm stays between {short(float(low))} and {short(float(high))} (5-95 %; usual are "
        "0.1 to 10)."
    ]


def _level(case: Case) -> list[str]:
    """How good the answers are: scores, and what simple models reach on the same samples."""
    level = case.level.against_simple
    if level is not None and level.z >= 5.0 and level.as_good:
        measure = "of the answers are right" if level.classes else "of the variance is explained"
        return [f"{level.reached:.0%} {measure}; a straight line or neighbours reach {level.simple:.0%}."]
    scores = case.level.validation_scores or case.level.scores
    return [f"Its best score ends at {short(max(scores))}."] if scores and case.level.good else []
