"""Which experiments a problem has, with this run's numbers, and what an arm of one showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from traindx.core.nouns import Problem, Run
from traindx.experiment.runtime.change import Change
from traindx.knowledge.catalogue import remedies
from traindx.knowledge.experiments import Experiment, experiments

_LEAST_FACTOR = 1e-3


@dataclass(frozen=True)
class Planned:
    """An experiment with the concrete change that carries it out here."""

    experiment: Experiment
    change: Change
    checked: bool = False
    """Whether a check-up has found something to change."""
    apart: bool = False
    """Whether it goes into no further check-up."""

    @property
    def reveals(self) -> bool:
        """Whether the change shows by doing nothing that there is nothing to fix."""
        return self.experiment.others == "idle" and not self.apart and not self.experiment.alone


def planned(problem: Problem, run: Run) -> list[Planned]:
    """Every experiment that says something about a cause of this problem."""
    symptoms = {problem.symptom, *problem.also}
    able = {hypothesis.cause for hypothesis in problem.hypotheses}
    plans: list[Planned] = []
    for experiment in experiments().values():
        if experiment.symptoms and not experiment.symptoms & symptoms:
            continue
        if not any(cause in able and word != experiment.others for cause, word in experiment.causes.items()):
            continue
        change = _change(experiment, problem, run)
        if change is not None and all(plan.change != change for plan in plans):
            plans.append(Planned(experiment, change))
    return plans


def _change(experiment: Experiment, problem: Problem, run: Run) -> Change | None:
    texts = [experiment.change] if experiment.change else _trials(experiment.remedy, problem)
    advised = _advised_rate(experiment.remedy, problem, run)
    for text in [advised, *texts] if advised else texts:
        try:
            change = Change.parse(text)
        except ValueError:
            continue
        if _right_way(experiment.remedy, change, run):
            return change
    return None


def _right_way(remedy: str, change: Change, run: Run) -> bool:
    """A larger batch must be larger than this run's, a smaller one smaller."""
    now, new = run.settings.get("batch_size"), change.values.get("value")
    if change.id != "set_batch_size" or not isinstance(now, int | float) or not isinstance(new, int | float):
        return True
    return new > now if remedies()[remedy].larger_batch else new < now


def _trials(remedy: str, problem: Problem) -> Sequence[str]:
    """With this run's numbers, where the diagnosis has filled them in."""
    for hypothesis in problem.hypotheses:
        for fix in hypothesis.fixes:
            if fix.remedy == remedy and fix.trials:
                return fix.trials
    return [text for text in remedies()[remedy].trials if "{" not in text]


def _advised_rate(remedy: str, problem: Problem, run: Run) -> str:
    """The learning rate that the diagnosis advises, as a factor."""
    now = run.settings.get("lr")
    fixes = [fix for hypothesis in problem.hypotheses for fix in hypothesis.fixes if fix.remedy == remedy]
    new = fixes[0].config.get("lr") if fixes else None
    if not isinstance(now, int | float) or not isinstance(new, int | float) or not now > 0 < new:
        return ""
    factor = max(_LEAST_FACTOR, min(1 / _LEAST_FACTOR, new / now))
    return f"scale_lr factor={factor:.3g}"
