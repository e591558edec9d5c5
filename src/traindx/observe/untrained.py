"""Parameters that no gradient reached in any sample so far."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.observe.name_lists import listed
from traindx.observe.recorder import Recorder

# Samples after which a parameter without a gradient is reported.
SAMPLES_NEEDED = 3
_LISTED, _RECORDED, _CUT_OFF = 8, 100, 200


class UntrainedReport:
    """Reports each set of such parameters once."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._reported: set[str] = set()

    def report(self, names: Sequence[str], cut_off: Sequence[str], *, reached: int, samples: int) -> None:
        """`cut_off` are the names whose gradient was None; `reached` parameters had a gradient."""
        key = ",".join(names)
        if not names or key in self._reported:
            return
        self._reported.add(key)
        self.recorder.event(
            "no_gradient",
            f"no gradient reached {listed(names, _LISTED)} in {samples} samples",
            {"layers": names[:_RECORDED], "cut_off": cut_off[:_CUT_OFF], "reached": reached},
        )
