"""What the callbacks of all frameworks have in common: begin, log, stop, report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Literal, TypedDict, Unpack

from traindx.core.nouns import ACTED_ON, SEVERITIES, Diagnosis
from traindx.observe import environment
from traindx.observe.recorder import current
from traindx.observe.watch import Watch, log, watch

# A diagnosis in the middle of a training may take this share of its time.
_SHARE = 0.02
_PLAIN = (bool, int, float, str)


Severe = Literal["critical", "high", "medium"]


class WatchOptions(TypedDict, total=False):
    """Arguments of `traindx.watch`."""

    name: str | None
    out: str | os.PathLike[str] | None
    budget: str | float
    internals: bool


class CallbackOptions(WatchOptions, total=False):
    """Arguments of every callback: with `report` the diagnosis is printed at the end; a problem at least as
    severe as `stop_on` ends the training.
    """

    report: bool
    stop_on: Severe | None


def framework(module: str, extra: str) -> Any:
    """A module of a framework; what to install, in one line, where it is not there."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise ImportError(f"{module} is not installed: pip install 'traindx[{extra}]'") from None


class Session:
    """One training, recorded from its first step to its last. Nothing here raises into the training."""

    def __init__(
        self, *, report: bool = True, stop_on: Severe | None = None, **options: Unpack[WatchOptions]
    ) -> None:
        if stop_on is not None and stop_on not in ACTED_ON:
            raise ValueError(f"stop_on must be one of {', '.join(ACTED_ON)}, or None; got {stop_on!r}.")
        self._report, self._options = report, options
        self._grave = () if stop_on is None else SEVERITIES[: SEVERITIES.index(stop_on) + 1]
        self._again = 0.0
        self.watch: Watch | None = None
        self.diagnosis: Diagnosis | None = None

    def begin(self, model: object = None) -> None:
        """Record from now on; a second training of the same callback continues."""
        if self.watch is None or not self.watch.active:
            self.watch = watch(model, **self._options)

    def log(self, values: Mapping[str, object], step: int | None = None) -> None:
        """Numbers that the framework was given by the training."""
        log({name: value for name, value in values.items() if not isinstance(value, str)}, step=step)

    def settings(self, values: Mapping[str, object]) -> None:
        """Settings of the training, as the framework knows them."""
        recorder = current()
        if recorder is None:
            return
        for name, value in values.items():
            if isinstance(value, _PLAIN):
                recorder.setting(name, value)

    def stop_wanted(self) -> bool:
        """Whether there is a problem at least as severe as `stop_on`; checked at the ends of epochs."""
        now = time.monotonic()
        recorder = current()
        if not self._grave or self.watch is None or recorder is None or not recorder.step:
            return False
        if now < self._again:
            return False
        diagnosis = self._diagnosed()
        self._again = time.monotonic() + (time.monotonic() - now) / _SHARE
        worst = next(iter(diagnosis.problems), None) if diagnosis is not None else None
        return worst is not None and worst.severity in self._grave

    def end(self, error: BaseException | None = None) -> None:
        """End the recording and report; under `traindx run` that reports at its own end."""
        if self.watch is None or not self.watch.active:
            return
        self.watch.__exit__(None if error is None else type(error), error, None)
        if self.watch.active or environment.place().rank:
            return
        self.diagnosis = self._diagnosed()
        if self._report and self.diagnosis is not None:
            _show(self.diagnosis)

    def _diagnosed(self) -> Diagnosis | None:
        try:
            return None if self.watch is None else self.watch.diagnose()
        except Exception as error:
            print(f"traindx: no diagnosis ({type(error).__name__}: {error})", file=sys.stderr)
            return None


def _show(diagnosis: Diagnosis) -> None:
    """Under the cell in a notebook, on standard error elsewhere."""
    if environment.interactive() and "IPython" in sys.modules:
        import_module("IPython.display").display(diagnosis)
        return
    from traindx.report.answer import answer_text

    print(answer_text(diagnosis), file=sys.stderr)
