"""The suspicions of one confirmation: what the recording says about each, and the answers so far."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from traindx.core.nouns import Diagnosis
from traindx.experiment.arms import Notify
from traindx.experiment.confirm.recorded import RecordedCause, recorded_causes
from traindx.experiment.confirm.suspicion_tests import SuspicionAnswer, by_the_recording, untested
from traindx.knowledge.suspicions import Suspicion, joined
from traindx.source.script import Script


class Suspects:
    """Suspicions that are tested one after the other; `open` are those without an answer."""

    def __init__(self, suspicions: Sequence[Suspicion], script: Script | None, notify: Notify) -> None:
        self.all = tuple(dict.fromkeys(suspicions))
        self.patches = [one for one in self.all if one.patch]
        self.open = [one for one in self.all if not one.patch]
        self.recorded: Mapping[str, RecordedCause] = {}
        self._script = script
        self._notify = notify
        self._answers: list[SuspicionAnswer] = []

    def weigh(self, diagnosis: Diagnosis) -> None:
        """Answer what the run of a diagnosis decides by itself."""
        if not self.open:
            return
        ids = [one.cause for one in self.open]
        self.recorded = recorded_causes(diagnosis.run, self._script, diagnosis, ids)
        for one in list(self.open):
            answer = by_the_recording(one, self.recorded[one.cause])
            if answer is not None:
                self.answered(answer)

    def answered(self, answer: SuspicionAnswer) -> None:
        self._answers.append(answer)
        self.open = [one for one in self.open if one != answer.suspicion]
        self._notify("suspicion", {"answer": answer})

    def give_up(self, why: str) -> None:
        """Nothing can be run: the rest is answered by the recording, or not at all."""
        for one in list(self.open):
            self.answered(untested(one, self.recorded[one.cause], why))

    @property
    def answers(self) -> tuple[SuspicionAnswer, ...]:
        """In the order in which they were suspected."""
        return tuple(sorted(self._answers, key=lambda one: self.all.index(one.suspicion)))

    def witnesses(self, diagnosis: Diagnosis) -> Diagnosis:
        """The diagnosis with the suspicions among its evidence; one that was refuted is no witness."""
        refuted = [one.suspicion for one in self._answers if one.answer == "refuted"]
        return joined(diagnosis, [one for one in self.all if one.cause and one not in refuted])
