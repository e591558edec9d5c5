"""Arms of trials: the user's program run in a scratch copy, a few at a time, each with its changes and seed.

    with Workshop(program, jobs=2) as shop:
        for outcome in shop.run([Arm("as it is"), Arm("lower lr", (change,))]):
            ...

Every arm ends: by itself, by its steps, by its time, or with the workshop.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from traindx.experiment import orders as ordering
from traindx.experiment.keeper_client import Bench
from traindx.experiment.outcomes import Ended, Outcome, never_begun, outcome_of, steps_so_far
from traindx.experiment.runtime.change import Change
from traindx.experiment.scratch import Snapshot
from traindx.observe.program import Program

if TYPE_CHECKING:
    from traindx.experiment.edit import Edited

__all__ = ["Arm", "Ended", "Outcome", "Workshop"]

_BEAT = 0.1
_CHECK_SECONDS = 0.5
# How long a training may take to react to each request: the file its recorder checks for, an interrupt.
_GRACE = (3.0, 2.0)


@dataclass(frozen=True)
class Arm:
    """One run of the program: with `changes` at run time, or with `sources` and `args` edited."""

    name: str
    changes: tuple[Change, ...] = ()
    seed: int = 0
    steps: int | None = None
    internals: bool = True
    sources: Mapping[str, str] = field(default_factory=dict)
    """User path -> edited text, written into the copy instead of the original."""
    files: Mapping[str, str] = field(default_factory=dict)
    """User path -> the file whose content takes its place in the copy; an empty one removes it."""
    args: tuple[str, ...] | None = None

    def edited(self, edit: Edited) -> Arm:
        """The same with an edit written into its sources."""
        args = self.args if edit.args is None else edit.args
        return replace(self, sources={**self.sources, **edit.sources}, args=args)


Notify = Callable[[str, Mapping[str, Any]], None]
"""Called with the name of each event and its facts."""
Progress = Callable[[Arm, int, float], None]
"""Called about twice a second for a running arm: its steps and seconds so far."""
Stop = Callable[[Arm, Path], str | None]
"""Called as often, with the arm's recording: the reason to stop the arm now, or None."""


@dataclass
class _Running:
    arm: Arm
    name: str
    folder: Path
    recording: Path
    timeout: float | None
    stop_reason: str = ""
    asked_at: float = 0.0
    interrupted: bool = False
    out_of_time: bool = False
    checked_at: float = 0.0


class Workshop:
    """Runs arms; leaving the `with` block ends them and removes their files, except kept recordings.

    `keep` is where recordings go; without it they are gone with the workshop. `time_budget` is in seconds
    and for all arms together.
    """

    def __init__(
        self,
        program: Program,
        *,
        keep: Path | None = None,
        jobs: int | None = None,
        time_budget: float | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self.program = program
        self.cwd = os.path.realpath(folder or os.getcwd())
        self.keep = keep
        self.jobs = max(1, jobs or ordering.cores())
        self._ends = None if time_budget is None else time.monotonic() + time_budget
        self.outside: dict[str, dict[str, None]] = {}
        """What the arms so far did outside their copies, by kind: redirected, refused, let through."""
        self._count = 0
        self._bench: Bench | None = None
        self._snapshot: Snapshot | None = None

    def __enter__(self) -> Workshop:
        self._bench = Bench(ordering.warm(self.program), ordering.threads(self.jobs), self.cwd)
        try:
            self._snapshot = Snapshot(self._bench.folder / "as-it-was", self._folders())
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End what runs and remove the scratch."""
        bench, self._bench = self._bench, None
        if bench is not None:
            bench.close()

    def _folders(self) -> list[str]:
        folders = [self.cwd]
        if self.program.kind != "module":
            full = os.path.join(self.cwd, self.program.name)
            for path in (full, os.path.realpath(full)):
                folders.append(path if os.path.isdir(path) else os.path.dirname(path))
        return folders

    def run_one(self, arm: Arm, timeout: float | None = None) -> Outcome:
        return next(iter(self.run([arm], timeout=timeout)))

    def run(
        self,
        arms: Iterable[Arm],
        *,
        timeout: float | None = None,
        progress: Progress | None = None,
        stop: Stop | None = None,
    ) -> Iterator[Outcome]:
        """The outcomes as the arms end, `jobs` at a time; each arm has `timeout` seconds."""
        waiting, running = iter(arms), dict[str, _Running]()
        has_more = True
        try:
            while has_more or running:
                while has_more and len(running) < self.jobs:
                    arm = next(waiting, None)
                    has_more = arm is not None
                    if arm is not None:
                        time_left = self.seconds_left
                        if time_left is not None and time_left <= 0:
                            nowhere = self._open().folder / "recordings" / "none"
                            yield never_begun(
                                arm, nowhere, "the time for all trials was over before it began"
                            )
                            continue
                        begun = self._start(arm, least(timeout, time_left))
                        running[begun.name] = begun
                for name, code, seconds in self._open().ended(_BEAT):
                    if name in running:
                        yield self._outcome(running.pop(name), code, seconds)
                for running_arm in running.values():
                    self._check(running_arm, progress, stop)
        finally:
            for name in running:
                if self._bench is not None:
                    self._bench.end(name)

    def _open(self) -> Bench:
        if self._bench is None:
            raise RuntimeError("the workshop is closed: use it in a 'with' statement.")
        return self._bench

    @property
    def spent(self) -> bool:
        """Whether the time for all arms is over."""
        return self.seconds_left is not None and self.seconds_left <= 0

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left for all arms; None where there is no limit."""
        return None if self._ends is None else self._ends - time.monotonic()

    def _start(self, arm: Arm, timeout: float | None) -> _Running:
        bench, snapshot = self._open(), self._snapshot
        assert snapshot is not None
        self._count += 1
        name = f"a{self._count}"
        scratch = bench.folder / name
        scratch.mkdir()
        snapshot.copy(scratch, arm.sources, arm.files)
        recording = self._recording(arm, scratch)
        orders = ordering.orders(self.program, arm, self.cwd, scratch, recording, snapshot.folders)
        bench.start(name, scratch, orders)
        return _Running(arm, name, scratch, recording, timeout)

    def _recording(self, arm: Arm, scratch: Path) -> Path:
        if self.keep is None:
            folder = self._open().folder / "recordings" / scratch.name
        else:
            folder = ordering.free_name(self.keep.absolute(), arm.name)
        folder.mkdir(parents=True)
        return folder

    def _check(self, running_arm: _Running, progress: Progress | None, stop: Stop | None) -> None:
        """Report its progress and stop it if needed: by the stop file first, then by force."""
        now, seconds = time.monotonic(), self._open().seconds(running_arm.name)
        if seconds is None:
            return
        if running_arm.stop_reason:
            if now - running_arm.asked_at > _GRACE[running_arm.interrupted]:
                self._insist(running_arm)
            return
        if running_arm.timeout is not None and seconds > running_arm.timeout:
            running_arm.out_of_time = True
            self._ask(running_arm, f"its {running_arm.timeout:.3g} s were over")
            return
        if now - running_arm.checked_at < _CHECK_SECONDS:
            return
        running_arm.checked_at = now
        if progress is not None:
            progress(running_arm.arm, steps_so_far(running_arm.recording), seconds)
        reason = stop(running_arm.arm, running_arm.recording) if stop is not None else None
        if reason:
            self._ask(running_arm, reason)

    def _ask(self, running_arm: _Running, reason: str) -> None:
        running_arm.stop_reason, running_arm.asked_at = reason, time.monotonic()
        with contextlib.suppress(OSError):
            (running_arm.recording / "stop").write_text(reason, encoding="utf-8")
        if not steps_so_far(running_arm.recording):
            self._insist(running_arm)  # the recorder checks for the file from the first step on

    def _insist(self, running_arm: _Running) -> None:
        """An interrupt lets the recording be closed; a process that ignores it is killed."""
        if running_arm.interrupted:
            self._open().end(running_arm.name)
        else:
            self._open().interrupt(running_arm.name)
        running_arm.interrupted, running_arm.asked_at = True, time.monotonic()

    def _outcome(self, ended: _Running, code: int | None, seconds: float) -> Outcome:
        outcome = outcome_of(
            ended.arm,
            ended.folder,
            ended.recording,
            code,
            seconds=seconds,
            stopped=ended.stop_reason,
            out_of_time=ended.out_of_time,
        )
        self._open().clear(ended.name)
        return self.noted(outcome)

    def listed(self) -> dict[str, list[str]]:
        """What the arms did outside their copies, as plain data."""
        return {kind: list(entries) for kind, entries in self.outside.items()}

    def noted(self, outcome: Outcome) -> Outcome:
        """The same outcome, with what it did outside its copy listed."""
        for kind, entries in outcome.outside.items():
            self.outside.setdefault(kind, {}).update(dict.fromkeys(entries))
        return outcome


def least(*limits: float | None) -> float | None:
    """The shortest of the times there are; None where nothing limits them."""
    return min((limit for limit in limits if limit is not None), default=None)
