"""Pairs of runs of two versions until the answer is clear; of several candidates a race."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from traindx.core.nouns import Diagnosis
from traindx.experiment.arm_diagnosis import acute, examined, rewritten
from traindx.experiment.arms import Arm, Notify, Outcome, Workshop
from traindx.experiment.horizon import LEAST
from traindx.experiment.measure import Pair, Yardstick, gain, gains_of, read_pair, yardstick
from traindx.experiment.prove.results import CannotProve, Proved, ProveRequest, VersionVerdict
from traindx.experiment.prove.sequential import Answer, Decision, decide
from traindx.experiment.prove.unlike import identical, likenesses
from traindx.experiment.prove.versions import Version
from traindx.experiment.treat.before_after import before_after, best_is_worse
from traindx.experiment.treat.ledger import Ledger
from traindx.experiment.treat.remedy_verdict import changed_symptoms
from traindx.experiment.treat.request import TreatRequest
from traindx.knowledge.catalogue import symptom_kind
from traindx.source.script import Script

# Of the time, what pairs may take; the rest is for the first run and for the end of the last pair.
_FOR_PAIRS = 0.85
_PROXY_PAIRS = 4
_PACE = Yardstick("step_s")
_LEAK = "data_leakage"
_CLEAR = "the answer is clear"


class Race:
    """Candidates against the version before them, and against each other."""

    def __init__(
        self,
        workshop: Workshop,
        script: Script | None,
        before: Version,
        candidates: Sequence[Version],
        request: ProveRequest,
        notify: Notify,
    ) -> None:
        self._script = script
        self._before = before
        self._candidates = list(candidates)
        self._request = request
        self._rule = replace(request.rule, candidates=len(candidates))
        self._notify = notify
        path = script.main.path if script is not None else workshop.program.name
        self._ledger = Ledger(workshop, path, TreatRequest(request.steps, metric=request.metric), notify)
        self._baselines: dict[int, Outcome] = {}
        self._runs: dict[str, dict[int, Outcome]] = {candidate.name: {} for candidate in candidates}
        self._behind: dict[str, str] = {}
        self._steps: int | None = request.steps
        self._shortened = ""

    def run(self) -> Proved:
        stop = self._ledger.enough_seen()
        [first] = self._ledger.run([self._arm(self._before, 0, self._steps)], stop)
        self._baselines[0] = first
        if first.run is None or not first.steps:
            return self._against_a_failure(first)
        self._diagnosis = examined(first.run, rewritten(self._script, self._before.sources))
        self._choose_length(first)
        self._notify("first", {"outcome": first, "shortened": self._shortened})
        stop_reason = _CLEAR
        for seed in range(self._rule.most):
            if seed and not self._time_for_a_pair():
                stop_reason = "the time is up"
                break
            self._pair(seed)
            self._leave_behind()
            verdicts = [self._verdict(version) for version in self._racing]
            self._notify("pair", {"seed": seed, "verdicts": verdicts})
            if all(v.decision is None or v.decision.final or v.reason for v in verdicts):
                break
        else:
            stop_reason = f"{self._rule.most} pairs were made"
        return self._result(first, stop_reason)

    @property
    def _racing(self) -> list[Version]:
        return [candidate for candidate in self._candidates if candidate.name not in self._behind]

    # Arms.

    def _arm(self, version: Version, seed: int, steps: int | None) -> Arm:
        name = f"{version.name}, seed {seed}"
        arm = Arm(name, version.changes, seed, steps, sources=version.sources, files=version.files)
        return arm if version.args is None else replace(arm, args=version.args)

    def _pair(self, seed: int) -> None:
        versions = [self._before] if seed not in self._baselines else []
        arms = {self._arm(version, seed, self._limit).name: version for version in (*versions, *self._racing)}
        for outcome in self._ledger.run([self._arm(version, seed, self._limit) for version in arms.values()]):
            version = arms[outcome.arm.name]
            if version is self._before:
                self._baselines[seed] = outcome
            else:
                self._runs[version.name][seed] = outcome

    @property
    def _limit(self) -> int | None:
        first = self._baselines[0]
        return self._steps if first.unit == "steps" else None

    def _choose_length(self, first: Outcome) -> None:
        """Shorter runs where the time allows no pairs of whole ones."""
        seconds_left, jobs = self._ledger.workshop.seconds_left, self._ledger.workshop.jobs
        if first.ended == "stopped" and self._steps is None:
            self._steps = first.steps
            self._shortened = f"{first.steps:,} steps, where the script takes more"
        if seconds_left is None or first.unit != "steps" or not first.seconds:
            return
        arms = _PROXY_PAIRS * (len(self._candidates) + 1) - 1
        needed = first.seconds * math.ceil(arms / jobs)
        if needed > _FOR_PAIRS * seconds_left:
            steps = max(LEAST, int(first.steps * _FOR_PAIRS * seconds_left / needed))
            if steps < first.steps:
                self._steps = steps
                self._shortened = f"{steps:,} of {first.steps:,} steps a run, for the time that was given"

    def _time_for_a_pair(self) -> bool:
        seconds_left = self._ledger.workshop.seconds_left
        if seconds_left is None:
            return True
        latest = [outcome.seconds for outcome in self._ledger.outcomes[-1 - len(self._racing) :]]
        return seconds_left > 0.9 * sum(latest) / max(1, min(self._ledger.workshop.jobs, len(latest)))

    # Judging.

    def _leave_behind(self) -> None:
        """After the first pair the better half of many goes on; later those clearly behind the best stay."""
        for version in self._racing:
            settled = self._verdict(version).reason
            if settled:
                self._behind[version.name] = settled
        racing = sorted(self._racing, key=lambda version: -self._verdict(version).gain)
        count = len(self._runs[racing[0].name]) if racing else 0
        if count == 1 and len(racing) > 2:
            for version in racing[(len(racing) + 1) // 2 :]:
                self._behind[version.name] = "behind the better half after one pair"
            return
        for version in racing[1:]:
            difference = self._decision(racing[0], version)
            if difference is not None and difference.answer == "better":
                self._behind[version.name] = f"clearly behind {racing[0].name}"

    def _decision(self, leader: Version, rival: Version) -> Decision | None:
        """The leader judged against another candidate instead of the version before."""
        by = self._by(rival)
        pairs = self._paired(by, self._runs[rival.name], self._runs[leader.name])
        if len(pairs) < 2:
            return None
        return decide(*gains_of(by, pairs), self._rule)

    def _by(self, version: Version, other_loss: bool = False) -> Yardstick:
        """How well it went, also of a slow training: whoever asks for speed names it as the metric."""
        run = self._baselines[0].run
        assert run is not None
        altered = other_loss or any(change.alters_loss for change in version.changes)
        by = yardstick(run, (), self._request.metric, other_loss=altered, held_out=True)
        return by or Yardstick("loss")

    def _paired(
        self, by: Yardstick, before: Mapping[int, Outcome], after: Mapping[int, Outcome]
    ) -> list[Pair]:
        pairs = (
            read_pair(by, before[seed].run, outcome.run, self._limit, seed=seed)
            for seed, outcome in sorted(after.items())
            if seed in before
        )
        return [pair for pair in pairs if pair is not None]

    def _verdict(self, version: Version) -> VersionVerdict:
        by, outcomes = self._by(version), self._runs[version.name]
        verdict = VersionVerdict(version, "cannot tell", by, (), None, outcomes=tuple(outcomes.values()))
        first = outcomes.get(0)
        base = self._baselines[0].run
        if first is None or base is None:
            return replace(verdict, reason="it was not run: the time is up")
        failed = next((outcome for outcome in outcomes.values() if _failed(outcome, self._limit)), None)
        if failed is not None:
            answer: Answer = "worse" if failed.ended == "crashed" else "cannot tell"
            return replace(verdict, answer=answer, reason=f"it does not run: {failed.message}")
        assert first.run is not None
        alike = likenesses(base, first.run, by)
        if not by.higher and any(likeness.what == "loss" and likeness.spoils for likeness in alike):
            by = self._by(version, other_loss=True)
            alike = likenesses(base, first.run, by)
        pairs = self._paired(by, self._baselines, outcomes)
        verdict = replace(verdict, by=by, pairs=tuple(pairs), likenesses=alike)
        spoilt = next((likeness for likeness in alike if likeness.spoils), None)
        if spoilt is not None:
            return replace(verdict, reason=f"the numbers cannot be compared: {spoilt.text}")
        if not pairs:
            return replace(verdict, reason=f"{by.words} is not in both versions")
        if by != _PACE and identical(base, first.run):
            if self._slow and (timed := self._paired(_PACE, self._baselines, outcomes)):
                return self._decided(replace(verdict, by=_PACE, pairs=tuple(timed)))
            return replace(verdict, answer="no difference", reason="every number is the same in both")
        return self._decided(verdict)

    @property
    def _slow(self) -> bool:
        """Whether slowness is what is wrong: then the same results in less time are better."""
        kinds = [symptom_kind(problem.symptom) for problem in self._diagnosis.problems[:1]]
        return kinds == ["slow"]

    def _decided(self, verdict: VersionVerdict) -> VersionVerdict:
        decision = decide(*gains_of(verdict.by, verdict.pairs), self._rule)
        return self._by_the_best(replace(verdict, answer=decision.answer, decision=decision))

    def _by_the_best(self, verdict: VersionVerdict) -> VersionVerdict:
        """Not better where only the end is: the best value, which a checkpoint keeps, became worse."""
        if verdict.answer != "better" or not verdict.by.name.startswith("val/"):
            return verdict
        bases = [(self._baselines.get(outcome.arm.seed), outcome.run) for outcome in verdict.outcomes]
        run_pairs = [(base.run, run) for base, run in bases if base is not None and base.run and run]
        worse = best_is_worse(run_pairs)
        if worse is None:
            return verdict
        return replace(verdict, answer="cannot tell", reason=f"its end is better, but {worse.best_text}")

    # The end.

    def _result(self, first: Outcome, stop_reason: str) -> Proved:
        verdicts = []
        for version in self._candidates:
            verdict = self._verdict(version)
            if (
                version.name in self._behind
                and verdict.answer in ("better", "cannot tell")
                and not verdict.reason
            ):
                verdict = replace(verdict, reason=self._behind[version.name])
            verdicts.append(self._with_consequences(verdict))
        verdicts.sort(key=_rank)
        if self._shortened:
            verdicts[0] = self._compared_whole(verdicts[0], first)
        if stop_reason == _CLEAR and verdicts[0].answer == "cannot tell":
            stop_reason = "further pairs would not change that"
        shop = self._ledger.workshop
        baseline = tuple(self._baselines[seed] for seed in sorted(self._baselines))
        cost = self._ledger.cost(first)
        return Proved(
            self._before, baseline, self._diagnosis, tuple(verdicts), cost, self._shortened, stop_reason,
            shop.listed(),
        )  # fmt: skip

    def _with_consequences(self, verdict: VersionVerdict) -> VersionVerdict:
        """Whether the symptom is gone, what is new, and every other score."""
        first = self._runs[verdict.version.name].get(0)
        base = self._baselines[0].run
        if first is None or first.run is None or base is None or not first.steps:
            return verdict
        diagnosis_after = examined(first.run, rewritten(self._script, verdict.version.sources))
        symptom_gone, fresh = changed_symptoms(self._diagnosis, diagnosis_after)
        scores = before_after(base, first.run, self._limit)
        verdict = replace(verdict, symptom_gone=symptom_gone, new_problems=fresh, scores=scores)
        leaks = [_leak(self._diagnosis), _leak(diagnosis_after)]
        if bool(leaks[0]) == bool(leaks[1]) or not verdict.by.name.startswith(("val/", "test/")):
            return verdict
        reason = f"{'before' if leaks[0] else 'now'} {verdict.by.words} is too good: {leaks[0] or leaks[1]}"
        return replace(verdict, answer="cannot tell", reason=reason.rstrip("."))

    def _compared_whole(self, verdict: VersionVerdict, first: Outcome) -> VersionVerdict:
        """One pair of whole runs, where there is time for it: whether short runs rank as whole ones do."""
        seconds_left = self._ledger.workshop.seconds_left
        if (
            first.ended != "finished"
            or first.run is None
            or (seconds_left is not None and seconds_left < 1.1 * first.seconds)
        ):
            return verdict
        arm = replace(self._arm(verdict.version, 0, None), name=f"{verdict.version.name}, whole")
        [whole_run] = self._ledger.run([arm])
        pair = read_pair(verdict.by, first.run, whole_run.run)
        if pair is None:
            return verdict
        agrees = gain(verdict.by, pair.before, pair.after) * verdict.gain > 0
        if agrees or verdict.answer not in ("better", "worse"):
            return replace(verdict, whole_agrees=agrees)
        reason = "the shortened runs say so, but one pair of whole runs says the opposite"
        return replace(verdict, answer="cannot tell", whole_agrees=False, reason=reason)

    def _against_a_failure(self, first: Outcome) -> Proved:
        """The version before does not train at all: one that does is better."""
        if first.ended != "crashed":
            raise CannotProve(f"the version before could not be observed: {first.message}")
        verdicts = []
        for version in self._candidates:
            arms = [self._arm(version, seed, self._steps) for seed in (0, 1)]
            outcomes = self._ledger.run(arms)
            failed = next((outcome for outcome in outcomes if _failed(outcome, None)), None)
            runs = tuple(outcomes)
            verdict = VersionVerdict(version, "better", Yardstick("loss"), (), None, outcomes=runs)
            reason = f"before, the script fails ({first.message}); now it trains"
            if failed is not None or not outcomes:
                failure = failed.message if failed is not None else "the time is up"
                verdict, reason = replace(verdict, answer="cannot tell"), f"neither version trains: {failure}"
            verdicts.append(replace(verdict, reason=reason))
        verdicts.sort(key=_rank)
        stop_reason = "the version before does not train"
        cost = self._ledger.cost(first)
        return Proved(self._before, (first,), None, tuple(verdicts), cost, stopped=stop_reason)


def _leak(diagnosis: Diagnosis) -> str:
    """What shows that answers of the validation are known in training; empty where nothing does."""
    firsts = [problem.hypotheses[0] for problem in acute(diagnosis) if problem.hypotheses]
    return next(
        (
            hypothesis.evidence[0].text
            for hypothesis in firsts
            if hypothesis.cause == _LEAK and hypothesis.evidence
        ),
        "",
    )


def _failed(outcome: Outcome, steps: int | None) -> bool:
    broken = outcome.run is None or not outcome.steps or bool(outcome.failed)
    return broken or outcome.ended == "crashed" or (steps is not None and outcome.cut_short(steps))


_ORDER: Mapping[Answer, int] = {"better": 0, "no difference": 1, "cannot tell": 1, "worse": 2}


def _rank(verdict: VersionVerdict) -> tuple[int, float]:
    spoilt = any(likeness.spoils for likeness in verdict.likenesses)
    return _ORDER[verdict.answer] + spoilt, -verdict.gain
