"""Successive halving over remedies: many briefly, the better ones longer, the best on further seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations

from traindx.core.nouns import ACTED_ON, Run
from traindx.experiment.arm_diagnosis import examined, rewritten
from traindx.experiment.arms import Arm, Notify, Outcome
from traindx.experiment.horizon import LEAST
from traindx.experiment.measure import Pair, Yardstick, read_pair, steps_for_step, yardstick
from traindx.experiment.treat.candidates import Candidate, CauseCandidates, as_edit, risk
from traindx.experiment.treat.expectations import Expectation, expectations
from traindx.experiment.treat.ledger import BEFORE, Ledger
from traindx.experiment.treat.remedy_verdict import TrialVerdict, by_symptom, by_the_best, judge
from traindx.experiment.treat.request import ScriptState, TreatRequest
from traindx.experiment.treat.results import Trial
from traindx.knowledge.catalogue import in_the_loss, symptom_kind

_LEAST_PACED = 20
_ALIKE = 0.05
# So much of the loss, or of a score, gone within a trial: nothing else is tried for the cause.
_ENOUGH = 0.25
_SEEDS, _SEEDS_COST = 3, 1.0


class Screening:
    """The trials of one round."""

    def __init__(
        self, ledger: Ledger, state: ScriptState, steps: int, request: TreatRequest, notify: Notify
    ) -> None:
        self._ledger = ledger
        self._state = state
        self._steps = steps
        self._request = request
        self._notify = notify
        self._keys: set[object] = set()
        self._useless: set[object] = set()
        self._baselines: dict[int, Run] = {}
        if state.baseline.run is not None:
            self._baselines[0] = state.baseline.run

    def run(self, plan: Sequence[CauseCandidates]) -> tuple[list[Trial], Trial | None]:
        """Remedy by remedy until one helps enough; all trials, and the one to keep."""
        trials: list[Trial] = []
        for course in plan:
            best: Trial | None = None
            for group in self._groups(course):
                if self._ledger.exhausted():
                    break
                new_trials = self._halve(group)
                trials += new_trials
                best = _best([trial for trial in (best, *new_trials) if trial is not None])
                if best is not None and _gain(best) >= _ENOUGH:
                    break
            # What helps a little for one cause goes before what might help for the next.
            if best is not None:
                surer = self._repeated(best, trials)
                if surer is not None:
                    return trials, surer
        return trials, None

    def _groups(self, course: CauseCandidates) -> Iterator[list[Candidate]]:
        """The candidates remedy by remedy, none that was tried before; at last two remedies together."""
        for group in _by_remedy(course.candidates):
            new = [candidate for candidate in group if candidate.key not in self._keys]
            self._keys |= {candidate.key for candidate in new}
            if new:
                yield new
        groups = [[c for c in group if c.changes] for group in _by_remedy(course.candidates)]
        firsts = [group[0] for group in groups if group and group[0].key not in self._useless]
        pairs = [
            _together(first, second) for first, second in combinations(firsts[:3], 2) if _apart(first, second)
        ]
        if not self._state.baseline.changeable:
            edited_pairs = [as_edit(pair, self._state) for pair in pairs]
            pairs = [pair for pair in edited_pairs if isinstance(pair, Candidate)]
        if pairs:
            yield pairs

    def _repeated(self, best: Trial, trials: list[Trial]) -> Trial | None:
        """The best on further seeds; None where they take it back, and the whole length does, too."""
        surer = self._repeat(best)
        trials[trials.index(best)] = surer
        length = self._state.baseline.steps
        longer = best.steps is not None and best.steps < length
        if not surer.helped and longer and _promising(surer) and not self._ledger.exhausted():
            [whole_trial] = self._try([best.candidate], length)
            trials.append(whole_trial)
            return whole_trial if whole_trial.helped else None
        return surer if surer.helped else None

    def _halve(self, candidates: Sequence[Candidate]) -> list[Trial]:
        """Several at half the length first; the better half continues to the whole of it."""
        remaining, ended = list(candidates), list[Trial]()
        steps = self._steps
        if len(remaining) > 2 and steps >= 2 * LEAST:
            brief = self._try(remaining, steps // 2)
            brief.sort(key=_final_level)
            keep = max(1, len(brief) // 2)
            alive = [trial for trial in brief[:keep] if trial.verdict is not None]
            ended = [trial for trial in brief if trial not in alive]
            remaining = [trial.candidate for trial in alive]
        return [*self._try(remaining, steps), *ended]

    def _try(self, candidates: Sequence[Candidate], steps: int) -> list[Trial]:
        arms = [self._arm(candidate, 0, steps) for candidate in candidates]
        outcomes = {outcome.arm.name: outcome for outcome in self._ledger.run(arms)}
        return [
            self._judged(candidate, steps, [outcomes[arm.name]] if arm.name in outcomes else [])
            for candidate, arm in zip(candidates, arms, strict=True)
        ]

    def _repeat(self, trial: Trial) -> Trial:
        """The best again on further seeds, paired with the unchanged script on the same."""
        if trial.steps is None or not trial.helped or self._ledger.late():
            return trial
        arms: list[Arm] = []
        for seed in range(1, self._count_seeds(trial.steps)):
            if seed not in self._baselines:
                arms.append(self._state.arm(f"{BEFORE} {seed}", seed, self._limit(trial.steps)))
            arms.append(self._arm(trial.candidate, seed, trial.steps))
        # A seed there was no time for says nothing against the others.
        outcomes = [outcome for outcome in self._ledger.run(arms) if outcome.ended != "timed out"]
        for outcome in outcomes:
            if outcome.arm.name.startswith(BEFORE) and outcome.run is not None:
                self._baselines[outcome.arm.seed] = outcome.run
        further = [outcome for outcome in outcomes if not outcome.arm.name.startswith(BEFORE)]
        return self._judged(trial.candidate, trial.steps, [*trial.outcomes, *further])

    def _count_seeds(self, steps: int) -> int:
        """As many as asked for; by default three, or fewer where each costs much of a training."""
        if self._request.seeds is not None:
            return self._request.seeds
        share = steps / max(1, self._state.baseline.steps)
        return 1 + max(1, min(_SEEDS - 1, int(_SEEDS_COST / (2 * share))))

    def _arm(self, candidate: Candidate, seed: int, steps: int) -> Arm:
        name = f"{candidate.name}, seed {seed}, {steps} steps"
        arm = self._state.arm(name, seed, self._paced(candidate, steps))
        if candidate.edited is not None:
            return arm.edited(candidate.edited)
        return replace(arm, changes=candidate.changes)

    def _paced(self, candidate: Candidate, steps: int) -> int | None:
        """As many samples as in the other arm, where the batch size differs."""
        baseline = self._state.baseline
        pace = steps_for_step(candidate.changes, baseline.run)
        if pace != 1.0 and baseline.unit == "steps":
            return max(_LEAST_PACED, round(steps * pace))
        return self._limit(steps)

    def _limit(self, steps: int) -> int | None:
        """None where a run is to reach its own end: it is short, or nothing counts its steps."""
        baseline = self._state.baseline
        is_whole = steps >= baseline.steps and baseline.ended == "finished"
        return None if is_whole or baseline.unit != "steps" else steps

    def _judged(self, candidate: Candidate, steps: int, outcomes: Sequence[Outcome]) -> Trial:
        failed = [
            outcome
            for outcome in outcomes
            if outcome.failed or outcome.run is None or not outcome.steps or self._cut_short(outcome, steps)
        ]
        if failed or not outcomes:
            reason = _failure(failed[0]) if failed else "it was not run: the time is up"
            return self._reported(Trial(candidate, steps, tuple(outcomes), None, reason))
        verdict = judge(*self._pairs(candidate, steps, outcomes))
        if steps >= self._state.baseline.steps and self._kept_by_the_best:
            verdict = by_the_best(verdict, self._runs(outcomes))
        verdict = self._with_symptom(candidate, steps, verdict, outcomes[0])
        expected = self._expected(candidate, steps, outcomes[0])
        return self._reported(Trial(candidate, steps, tuple(outcomes), verdict, expected=expected))

    @property
    def _kept_by_the_best(self) -> bool:
        """Whether the best value decides: where the end is worse than the best, or nothing is wrong."""
        return not self._symptoms or symptom_kind(self._symptoms[0]) == "unequal"

    def _runs(self, outcomes: Sequence[Outcome]) -> list[tuple[Run, Run]]:
        """The pairs of whole runs."""
        pairs = [(self._baselines.get(outcome.arm.seed), outcome.run) for outcome in outcomes]
        return [(before, after) for before, after in pairs if before is not None and after is not None]

    def _expected(self, candidate: Candidate, steps: int, outcome: Outcome) -> tuple[Expectation, ...]:
        base = self._baselines.get(outcome.arm.seed)
        if base is None or outcome.run is None:
            return ()
        upto = steps if outcome.arm.steps == steps else None
        return expectations(candidate.remedy, base, outcome.run, upto)

    def _cut_short(self, outcome: Outcome, steps: int) -> bool:
        paced = outcome.arm.steps
        return outcome.cut_short(min(paced or steps, self._state.baseline.steps))

    def _with_symptom(
        self, candidate: Candidate, steps: int, verdict: TrialVerdict, outcome: Outcome
    ) -> TrialVerdict:
        """Judged by the symptom where numbers cannot say it: they mean something else, or were never bad."""
        even = verdict.word in ("no difference", "cannot tell")
        silent = even and (not all(map(in_the_loss, self._symptoms)) or not verdict.pairs)
        worse = candidate.other_loss and (even or (verdict.word == "hurt" and not verdict.by.higher))
        if not (silent or worse or candidate.other_measure) or outcome.run is None:
            return verdict
        script = self._state.script
        if candidate.edited is not None:
            script = rewritten(script, candidate.edited.sources)
        diagnosis_after = examined(outcome.run, script)
        is_whole = steps >= self._state.baseline.steps
        return by_symptom(verdict, self._state.diagnosis, diagnosis_after, whole=is_whole)

    def _pairs(
        self, candidate: Candidate, steps: int, outcomes: Sequence[Outcome]
    ) -> tuple[Yardstick, list[Pair]]:
        """The same points of both arms; by the training loss where nothing was validated so early."""
        loss = Yardstick("loss")
        for yard in (self._by(candidate) or loss, loss):
            pairs = [pair for outcome in outcomes if (pair := self._pair(yard, steps, outcome))]
            if pairs:
                return yard, pairs
        return loss, []

    def _pair(self, by: Yardstick, steps: int, outcome: Outcome) -> Pair | None:
        seed = outcome.arm.seed
        upto = None if steps >= self._state.baseline.steps else steps
        # A run of another pace is read at its end.
        pace = 1.0 if outcome.arm.steps == steps else math.inf
        return read_pair(by, self._baselines.get(seed), outcome.run, upto, pace=pace, seed=seed)

    def _reported(self, trial: Trial) -> Trial:
        if trial.verdict is None or trial.verdict.word == "hurt":
            self._useless.add(trial.candidate.key)
        self._notify("tried", {"trial": trial})
        return trial

    @property
    def _symptoms(self) -> list[str]:
        """The symptom of the first problem worth acting on; none where a remedy is tried on a healthy run."""
        problems = self._state.diagnosis.problems[:1]
        return [problem.symptom for problem in problems if problem.severity in ACTED_ON]

    def _by(self, candidate: Candidate) -> Yardstick | None:
        run = self._baselines.get(0)
        if run is None:
            return None
        return yardstick(
            run, self._symptoms, self._request.metric, other_loss=candidate.other_loss, rare=candidate.rare
        )


def _promising(trial: Trial) -> bool:
    """Better on the whole, though not in every pair: a problem that comes and goes needs longer trials."""
    if trial.verdict is None or trial.verdict.word != "cannot tell":
        return False
    pairs, sign = trial.verdict.pairs, -1.0 if trial.verdict.by.higher else 1.0
    return sum(sign * pair.after.value for pair in pairs) < sum(sign * pair.before.value for pair in pairs)


def _apart(first: Candidate, second: Candidate) -> bool:
    """Whether two candidates change different things: none can be set twice."""
    return not {change.id for change in first.changes} & {change.id for change in second.changes}


def _together(first: Candidate, second: Candidate) -> Candidate:
    """Two changes at once, where each alone falls short."""
    changes = first.changes + second.changes
    return replace(first, changes=changes, edited=None, second_remedy=second.remedy)


def _by_remedy(candidates: Sequence[Candidate]) -> list[list[Candidate]]:
    """Those of one remedy together, in their order."""
    groups: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        groups.setdefault(candidate.remedy, []).append(candidate)
    return list(groups.values())


def _failure(outcome: Outcome) -> str:
    for change, reason in outcome.failed.items():
        return f"{change} could not be applied: {reason}"
    return outcome.message


def _final_level(trial: Trial) -> float:
    """Where a trial ended, the lower the better; nowhere where it could not be judged."""
    if trial.verdict is None or not trial.verdict.pairs:
        return math.inf
    mean = sum(pair.after.value for pair in trial.verdict.pairs) / len(trial.verdict.pairs)
    return -mean if trial.verdict.by.higher else mean


def _best(trials: Sequence[Trial]) -> Trial | None:
    """The one that ended best; of those that are nearly equal the one with the least risk, then the first."""
    helped = [trial for trial in trials if trial.helped]
    if not helped:
        return None
    lowest = min(map(_final_level, helped))
    close = [trial for trial in helped if _final_level(trial) <= lowest + _ALIKE * max(abs(lowest), 1e-12)]
    return min(close, key=lambda trial: risk(trial.candidate))


def _gain(trial: Trial) -> float:
    return trial.verdict.gain if trial.verdict is not None else 0.0
