"""By which metric runs are compared: one that they share, validation before training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traindx.comparison.subjects import Subject
from traindx.core.names import parts, understand
from traindx.core.nouns import Goal

_NAMED_MOST = 4
# Between equals: what says most about a model, first.
_ORDER = ("loss", "accuracy", "f1", "auc", "map", "map50", "iou", "dice", "bleu", "wer", "cer", "reward")


class NothingShared(Exception):
    """The runs share no metric; the message is one line for the user."""


@dataclass(frozen=True)
class Chosen:
    """The metric, whether lower or higher is better, and the runs that have it (by place)."""

    name: str
    goal: Goal
    runs: tuple[int, ...]
    left_out: tuple[int, ...]
    others: tuple[str, ...]
    why: str = ""

    @property
    def sign(self) -> float:
        """What a value is multiplied with so that lower is better."""
        return -1.0 if self.goal == "higher" else 1.0


def choose(runs: Sequence[Subject], metric: str | None = None) -> Chosen:
    """The metric asked for, else the best that most runs share; raises `NothingShared`."""
    metrics = [_metrics(run) for run in runs]
    counts: dict[str, int] = {}
    for goals in metrics:
        for name in goals:
            counts[name] = counts.get(name, 0) + 1
    if metric is not None:
        name = _metric_named(metric, runs, counts)
    else:
        shared = {name: number for name, number in counts.items() if number >= 2}
        if not shared:
            raise NothingShared(_nothing(runs, metrics))
        largest = max(shared.values())
        avoid = _losses_differ(runs)
        name = min((n for n in shared if shared[n] == largest), key=lambda n: _rank(n, avoid))
    return _chosen(name, runs, metrics, counts)


def _chosen(
    name: str, runs: Sequence[Subject], metrics: Sequence[dict[str, Goal]], counts: dict[str, int]
) -> Chosen:
    having = [number for number, run in enumerate(runs) if run.curve(name) is not None]
    goal = next((goals[name] for goals in metrics if name in goals), "lower")
    left_out = tuple(number for number in range(len(runs)) if number not in set(having))
    other_metrics = tuple(
        sorted((n for n in counts if n != name and counts[n] >= 2), key=lambda n: _rank(n, False))
    )
    why = ""
    if parts(name).metric != "loss" and _losses_differ(runs):
        why = "the losses are not the same function, so their values cannot be compared"
    if not any(name in goals for goals in metrics):
        why = "it is neither to rise nor to fall by itself; that lower counts as better is a convention"
    return Chosen(
        name, "higher" if goal == "higher" else "lower", tuple(having), left_out, other_metrics, why
    )


def _metrics(run: Subject) -> dict[str, Goal]:
    """The curves with a goal (to fall or to rise), without their scope."""
    goals: dict[str, Goal] = {}
    for name in run.case.names:
        series = run.run.series[name]
        name_parts = parts(name)
        if not len(series) or series.goal == "none" or name_parts.scope in ("best", "final"):
            continue
        goals.setdefault(name.partition("@")[0], series.goal)
    if run.case.val_loss is not None:
        goals.setdefault("val/loss", run.case.val_loss.goal if run.case.val_loss.goal != "none" else "lower")
    return goals


def _rank(name: str, avoid_loss: bool) -> tuple[int, int, str]:
    name_parts = parts(name)
    split = {"val": 0, "test": 1}.get(name_parts.split, 2 if not name_parts.split else 3)
    place = _ORDER.index(name_parts.metric) if name_parts.metric in _ORDER else len(_ORDER)
    if name_parts.part:
        place += 2 * len(_ORDER)
    if avoid_loss and name_parts.metric == "loss":
        place += 4 * len(_ORDER)
    return split, place, name


def _losses_differ(runs: Sequence[Subject]) -> bool:
    """Values of different losses cannot be compared."""
    for key in ("loss_function", "label_smoothing"):
        losses = {str(run.settings[key]).lower().rsplit(".", 1)[-1] for run in runs if key in run.settings}
        if len(losses) > 1:
            return True
    return False


def _metric_named(metric: str, runs: Sequence[Subject], counts: dict[str, int]) -> str:
    meaning = understand(metric)
    split = f"{meaning.split}/" if meaning.split not in ("", "train") else ""
    plain = split + meaning.metric + (f"/{meaning.part}" if meaning.part else "")
    for name in (metric, plain):
        if sum(run.curve(name) is not None for run in runs) >= 2:
            return name
    available = ", ".join(sorted(counts, key=lambda name: (-counts[name], name))[:8]) or "none"
    raise NothingShared(f"no two of the runs have a curve {metric!r}. Metrics that are there: {available}.")


def _nothing(runs: Sequence[Subject], metrics: Sequence[dict[str, Goal]]) -> str:
    listed = "; ".join(
        f"{run.name} has {', '.join(list(goals)[:_NAMED_MOST]) or 'none that is to rise or fall'}"
        for run, goals in list(zip(runs, metrics, strict=True))[:3]
    )
    curves = [set(run.case.names) for run in runs]
    shared = sorted(set.intersection(*curves), key=lambda name: ("loss" not in name, name)) if curves else []
    if shared:
        return f"the runs share no metric: {listed}. Name a curve to compare by: --metric {shared[0]}."
    return (
        f"the runs share no metric: {listed}. "
        "Name the column that means the same in both with --map, for example --map val/loss=my_column."
    )
