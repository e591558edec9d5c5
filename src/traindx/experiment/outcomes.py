"""The outcome of an arm: its recording, how it ended, and one sentence about it."""

from __future__ import annotations

import contextlib
import json
import re
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from traindx.core import files
from traindx.core.documents import json_of
from traindx.core.nouns import Run
from traindx.experiment.runtime import seeds
from traindx.experiment.sandbox import devices, guard

if TYPE_CHECKING:
    from traindx.experiment.arms import Arm

Ended = Literal["finished", "stopped", "crashed", "timed out", "interrupted", "never trained"]
_TAIL = 1 << 16
_LONGEST = 300
_LARGEST = 1 << 30
_OURS = "traindx: "
_AS_LONG = 0.8
_NEARLY = 0.9
OUTSIDE = ("redirected", "refused", "let through")
_STEP = re.compile(rb'"step":(\d+)')


@dataclass(frozen=True)
class Outcome:
    """`run` is None when nothing was recorded; `message` is one line for people."""

    arm: Arm
    recording: Path
    run: Run | None
    code: int | None
    seconds: float
    steps: int
    ended: Ended
    message: str
    changes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By the change: what it says it did."""
    failed: Mapping[str, str] = field(default_factory=dict)
    """By the change: why it could not be applied."""
    outside: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`redirected`, `refused` and `let through`: what it did outside the copied folders."""
    seeded: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By library: the seeds the script sets by itself."""
    trainings: tuple[Run, ...] = ()
    """All trainings of about this length that the script does, one after another; `run` is the first."""
    changeable: bool = False
    """Whether changes at run time reach this training."""
    unit: str = "steps"
    """What `steps` counts: epochs where no step was seen, but numbers were printed or logged."""

    def cut_short(self, whole: int) -> bool:
        """Whether it ended against its will well before `whole` steps: its numbers are of another moment."""
        return self.ended in ("crashed", "timed out", "interrupted") and self.steps < _NEARLY * whole


def outcome_of(
    arm: Arm,
    scratch: Path,
    recording: Path,
    code: int | None,
    *,
    seconds: float,
    stopped: str,
    out_of_time: bool,
) -> Outcome:
    """Read what an arm left; its recording speaks of the user's paths from now on."""
    root = str(scratch / "root")
    outside, seeded = _outside(scratch), _seeded(scratch)
    facts = _settled(recording, root, {"writes": outside, "seeds": seeded, "arm": _arm_json(arm)})
    trainings = read_trainings(recording)
    # An arm that is stopped after some steps has made these in the first: it is the one all arms share.
    run = trainings[0] if trainings else None
    steps, unit = _steps(facts, run), "steps"
    if not steps and run is not None:
        steps, unit = _printed(run), "epochs"
    ended, message = _ending(
        facts, code, steps, seconds, stopped, out_of_time, _last_line(scratch / "err.txt"), unit
    )
    changes = [change for change in facts.get("interventions") or () if isinstance(change, dict)]
    return Outcome(
        arm,
        recording,
        run,
        code,
        seconds,
        steps,
        ended,
        message.replace(root, "")[:_LONGEST],
        changes={str(change["id"]): tuple(map(str, change.get("said") or ())) for change in changes},
        failed={str(change["id"]): str(change["failed"]) for change in changes if change.get("failed")},
        outside=outside,
        seeded=seeded,
        trainings=trainings,
        changeable=facts.get("changeable") is True,
        unit=unit if steps else "steps",
    )


def never_begun(arm: Arm, recording: Path, reason: str) -> Outcome:
    """An arm there was no time for."""
    return Outcome(arm, recording, None, None, 0.0, 0, "timed out", reason)


def steps_so_far(recording: Path) -> int:
    """Steps of a training that still runs, from the last lines of its recording."""
    highest = 0
    for path in recording.glob("rank-*.jsonl"):
        with contextlib.suppress(OSError):
            tail = files.tail(path, _TAIL)
            steps = [int(digits) for digits in _STEP.findall(tail)]
            rows = tail.rfind(b'{"rows"')
            last = re.search(rb"(\d+)\]\]\}", tail[rows:]) if rows >= 0 else None
            highest = max(highest, *(steps[-1:] or [0]), int(last[1]) if last else 0)
    return highest


def _arm_json(arm: Arm) -> dict[str, Any]:
    changes = [change.to_json() for change in arm.changes]
    return {"name": arm.name, "seed": arm.seed, "changes": changes, "edited": sorted(arm.sources)}


def _settled(recording: Path, root: str, additions: Mapping[str, object]) -> dict[str, Any]:
    """The facts of the recording; paths in the copy become the user's, in all its files."""
    escaped = json.dumps(root)[1:-1].encode()
    for path in recording.glob("rank-*.jsonl"):
        with contextlib.suppress(OSError):
            text = files.read(path, _LARGEST)
            if escaped in text:
                path.write_bytes(text.replace(escaped, b""))
    try:
        text = files.read(recording / "run.json")
        facts: dict[str, Any] = json_of(text.replace(escaped, b""))
        links = json_of(text).get("links")
    except (OSError, ValueError):
        return {}
    facts.update(additions)
    if links:
        facts["links"] = links
    (recording / "run.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    return facts


def read_trainings(recording: Path) -> tuple[Run, ...]:
    """The trainings of a recording; of several only those that are about as long as the longest (folds)."""
    from traindx.logs.find import find_runs

    runs = [run for run in find_runs([str(recording)]).runs if run.series]
    longest = max((run.last_step or 0 for run in runs), default=0)
    return tuple(run for run in runs if (run.last_step or 0) >= _AS_LONG * longest)


def _steps(facts: Mapping[str, Any], run: Run | None) -> int:
    loss = run.series.get("loss") or run.series.get("lr") if run is not None else None
    last = int(loss.steps[-1]) if loss is not None and len(loss) and loss.axis == "step" else 0
    with contextlib.suppress(KeyError, TypeError, ValueError, OverflowError):
        return max(last, int(facts["ended"]["step"]))
    return last


def _printed(run: Run) -> int:
    """How many times a training whose steps nobody saw has given its loss."""
    losses = [run.series[name] for name in ("loss", "val/loss") if name in run.series]
    return max(map(len, losses), default=0)


def _ending(
    facts: Mapping[str, Any],
    code: int | None,
    steps: int,
    seconds: float,
    stopped: str,
    out_of_time: bool,
    last: str,
    unit: str,
) -> tuple[Ended, str]:
    recorded = facts.get("ended")
    how, text = (
        (str(recorded.get("how")), str(recorded.get("text"))) if isinstance(recorded, dict) else ("", "")
    )
    if out_of_time and (how != "finished" or not steps):
        return "timed out", _out_of_time(stopped, steps)
    if stopped and how != "finished":
        return "stopped", f"stopped after {steps} steps: {stopped}"
    if stopped and steps and code:
        return "finished", f"finished its {steps} steps and then did not exit: it was ended, as {stopped}"
    if code is None:
        return "interrupted", "the trial was ended from outside before it was over"
    if how == "interrupted":
        return "interrupted", f"the script was interrupted after {steps} steps"
    if code:
        return "crashed", _crash(code, text or last, last, steps)
    if not steps:
        return "never trained", text if how == "stopped" and text else _NEVER
    if how == "stopped":
        return "stopped", text
    return "finished", f"finished by itself: {steps} {unit} in {seconds:.1f} s"


_NEVER = (
    "the script ended without an error and without a training step, and it printed no loss. "
    "Give the script, and the arguments, that train."
)


def _out_of_time(reason: str, steps: int) -> str:
    if steps:
        return f"ended after {steps} steps: {reason}"
    return f"not one training step was done when {reason}: give it more time, or a smaller start"


def _crash(code: int, text: str, last: str, steps: int) -> str:
    """The last line of the error, and what to do where that is known."""
    if code < 0:
        return f"{_signal(-code)} after {steps} recorded steps" + (f": {last}" if last else "")
    if text.startswith(_OURS):
        return text.removeprefix(_OURS)
    if "EOFError" in text:
        return (
            f"the script reads standard input, which is empty in a trial ({text}): give it arguments instead"
        )
    if code == 2 and "error:" in last:
        return f"the script wants other arguments: {last}"
    if not text or text.startswith("exit code"):
        return f"the script ended with exit code {code} after {steps} steps" + (f": {last}" if last else "")
    return f"the script failed after {steps} steps: {text}"


def _signal(number: int) -> str:
    if number == signal.SIGKILL:
        return "the system killed it, as when memory runs out,"
    with contextlib.suppress(ValueError):
        return f"{signal.Signals(number).name} ended it"
    return f"signal {number} ended it"


def _last_line(path: Path) -> str:
    with contextlib.suppress(OSError):
        lines = files.tail(path, _TAIL).decode(errors="replace").splitlines()
        return next((line.strip() for line in reversed(lines) if line.strip()), "")
    return ""


def _outside(scratch: Path) -> dict[str, tuple[str, ...]]:
    outside: dict[str, dict[str, None]] = {kind: {} for kind in OUTSIDE}
    with contextlib.suppress(OSError):
        for line in files.read(scratch / guard.OUTSIDE).decode(errors="replace").splitlines():
            with contextlib.suppress(ValueError, AttributeError):
                for kind, path in json_of(line).items():
                    outside.setdefault(kind, {})[str(path)] = None
    outside["let through"].update(dict.fromkeys(devices.changed_memory(str(scratch))))
    return {kind: tuple(listed) for kind, listed in outside.items() if listed}


def _seeded(scratch: Path) -> dict[str, tuple[str, ...]]:
    with contextlib.suppress(OSError, ValueError):
        recorded = json_of(files.read(scratch / seeds.SEEDS_FILE))
        return {str(library): tuple(map(str, values)) for library, values in recorded.items()}
    return {}
