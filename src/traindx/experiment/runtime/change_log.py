"""What each change did to the training: into the recording, while it happens and at its end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn

from traindx.experiment.runtime.change import Change
from traindx.observe.recorder import current, stop

_SAID_MOST = 8


class ChangeBroke(SystemExit):
    """A change failed in itself: the arm ends here rather than train on half changed."""


@dataclass
class ChangeLog:
    """One change and what became of it. `otherwise` is reported if it never found anything to change."""

    change: Change
    said: list[str] = field(default_factory=list)
    failed: str | None = None
    otherwise: str = "nothing to change was found"

    def changed(self, text: str) -> None:
        """Report a change, once however often it happens."""
        if text in self.said or len(self.said) >= _SAID_MOST:
            return
        self.said.append(text)
        self._event("intervention", text)

    def cannot(self, reason: str) -> NoReturn:
        """It cannot be done here: the arm would not be what was asked for, so it ends."""
        self._fail(reason)
        stop(f"{self.change.id} could not be applied: {reason}")

    def broke(self, error: Exception) -> NoReturn:
        text = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        self._fail(f"it failed itself ({text})")
        raise ChangeBroke(f"traindx: the change {self.change.id} failed ({text}).") from error

    def end(self) -> None:
        """At the end of the training: one that never changed anything has failed."""
        if not self.said and self.failed is None:
            self._fail(self.otherwise)

    def _fail(self, reason: str) -> None:
        if self.failed is None:
            self.failed = reason
            self._event("intervention_failed", reason)

    def _event(self, kind: str, text: str) -> None:
        recorder = current()
        if recorder is not None and not recorder.closed:
            recorder.event(kind, f"{self.change.id}: {text}", {"id": self.change.id})

    def to_json(self) -> dict[str, Any]:
        values = dict(self.change.values)
        return {"id": self.change.id, "values": values, "said": list(self.said), "failed": self.failed}
