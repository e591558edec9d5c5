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
        self.patches = [suspicion for suspicion in self.all if suspicion.patch]
        self.open = [suspicion for suspicion in self.all if not suspicion.patch]
        self.recorded: Mapping[str, RecordedCause] = {}
        self._script = script
        self._notify = notify
        self._answers: list[SuspicionAnswer] = []

    def weigh(self, diagnosis: Diagnosis) -> None:
        """Answer what the run of a diagnosis decides by itself."""
        if not self.open:
            return
        ids = [suspicion.cause for suspicion in self.open]
        self.recorded = recorded_causes(diagnosis.run, self._script, diagnosis, ids)
        for suspicion in list(self.open):
            answer = by_the_recording(suspicion, self.recorded[suspicion.cause])
            if answer is not None:
                self.answered(answer)

    def answered(self, answer: SuspicionAnswer) -> None:
        self._answers.append(answer)
        self.open = [suspicion for suspicion in self.open if suspicion != answer.suspicion]
        self._notify("suspicion", {"answer": answer})

    def give_up(self, reason: str) -> None:
        """Nothing can be run: the rest is answered by the recording, or not at all."""
        for suspicion in list(self.open):
            self.answered(untested(suspicion, self.recorded[suspicion.cause], reason))

    @property
    def answers(self) -> tuple[SuspicionAnswer, ...]:
        """In the order in which they were suspected."""
        return tuple(sorted(self._answers, key=lambda answer: self.all.index(answer.suspicion)))

    def witnesses(self, diagnosis: Diagnosis) -> Diagnosis:
        """The diagnosis with the suspicions among its evidence; one that was refuted is no witness."""
        refuted = [answer.suspicion for answer in self._answers if answer.answer == "refuted"]
        return joined(
            diagnosis, [suspicion for suspicion in self.all if suspicion.cause and suspicion not in refuted]
        )
