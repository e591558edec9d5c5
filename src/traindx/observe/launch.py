"""`traindx run`: the user's program in this process, with a recorder next to it.

Nothing here may keep the program from running: what cannot be set up is reported in a line and left out.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import sys
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

from traindx.observe import agent, children, ending, frameworks, monitor
from traindx.observe import folder as place
from traindx.observe.environment import facts
from traindx.observe.files_read import FilesRead
from traindx.observe.launcher_rank import LaunchedRank
from traindx.observe.launcher_rank import place as place_among_ranks
from traindx.observe.log_links import Links
from traindx.observe.printed import Overheard
from traindx.observe.program import Program, runner
from traindx.observe.recorder import Recorder, start
from traindx.observe.signals import keys_held
from traindx.observe.stderr_lines import say
from traindx.observe.stopping import leave

_NOT_DRAWN_ON = ("dumb", "unknown", "emacs")
# Builds and notebooks show what is written, but not as a terminal does.
_NO_TERMINAL = ("CI", "JPY_PARENT_PID", "COLAB_RELEASE_TAG")


@dataclass(frozen=True)
class Launch:
    """What to run and how to record it; `options` are the words of the command line that said so.

    `misplaced` is the line for a script that refuses an option which was meant for traindx, `framework` the
    one that was named before the start.
    """

    program: Program
    folder: place.Folder | None = None
    rank: LaunchedRank = field(default_factory=LaunchedRank)
    budget: float = 0.01
    steps: int | None = None
    internals: bool = True
    stop_on_critical: bool = False
    quiet: bool = False
    everything: bool = False
    json: str | None = None
    html: str | None = None
    fail_on: str | None = None
    options: tuple[str, ...] = ()
    misplaced: str = ""
    check_data: bool = True
    framework: str = ""


def plan(program: Program, out: str | None, **options: object) -> Launch:
    """The launch with its folder made; raises `place.Taken` where the folder asked for is another's."""
    launch = Launch(program, rank=place_among_ranks(), **options)  # type: ignore[arg-type]
    if agent.is_agent(program):
        wrapped = agent.with_traindx(program, launch.options)
        if wrapped is not None:
            return replace(launch, program=wrapped)
    with contextlib.suppress(OSError):
        return replace(launch, folder=place.choose(out, program.stem, launch.rank))
    if not launch.quiet:
        say("there is no place for a recording, not even for temporary files: nothing is recorded.")
    return launch


def run(launch: Launch) -> None:
    """Run the program as `__main__`; what it raises comes out, dressed as plain Python shows it."""
    observed: Observed | None = None
    if children.ORDERS in os.environ:
        from traindx.experiment.runtime.arm import begin_child

        begin_child()
    try:
        go = runner(launch.program)
        if launch.folder is not None:
            observed = _observed(launch, launch.folder)
        go()
    except BaseException as error:
        if observed is not None:
            observed.how = ending.how_it_ended(error)
            observed.crash = ending.crash_of(error)
        if isinstance(error, SystemExit):
            if not error.code:
                _fail_on_findings(observed)
        else:
            ending.show_without_us(error)
        raise
    _fail_on_findings(observed)


def _fail_on_findings(observed: Observed | None) -> None:
    """With `--fail-on`: everything the interpreter does at its end, now, and the exit code it calls for."""
    if observed is None or observed.launch.fail_on is None:
        return
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    if observed.result:
        sys.exit(observed.result)


def _observed(launch: Launch, folder: place.Folder) -> Observed | None:
    try:
        return Observed(launch, folder)
    except Exception as error:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        say(f"nothing is recorded: traindx itself failed ({type(error).__name__}: {error}).")
        return None


class Observed:
    """The recorder and the monitor process of one program, from its start to its end."""

    def __init__(self, launch: Launch, folder: place.Folder) -> None:
        self.launch = launch
        self.how = ("finished", "")
        self.crash: dict[str, object] = {}
        self.result: int | None = None
        self._pid = os.getpid()
        self._folder = folder.path
        self._display_name = _display_name(folder.path)
        speaks = launch.rank.speaks and not launch.quiet
        if speaks:
            moved = f"{folder.trouble}; " if folder.trouble else ""
            say(f"{moved}recording to {self._display_name}")
        children.reserve(folder.path, launch.rank.rank)
        self.recorder = self._recorder()
        self._monitor: monitor.MonitorProcess | None = None
        if self._wants_monitor():
            with contextlib.suppress(OSError):
                self._monitor = monitor.start(self._orders())
        self._overheard = Overheard(self.recorder.output)
        reads = FilesRead(lambda files: self.recorder.fact("files_read", files), str(folder.path))
        self._links = Links(lambda paths: self.recorder.fact("links", paths), str(folder.path), reads)
        atexit.register(self._finish)
        self.recorder.insist = self._insist
        if self._monitor is not None:
            children.in_forked_child(self._monitor.let_go)
        children.follow(self.recorder, self._options)
        children.install_when_there(self.recorder)
        self._links.listen()
        self._overheard.listen()

    def _wants_monitor(self) -> bool:
        launch = self.launch
        work = launch.json or launch.html or launch.fail_on or launch.stop_on_critical
        return launch.rank.speaks and bool(work or not launch.quiet)

    def _orders(self) -> monitor.Orders:
        launch = self.launch
        return monitor.Orders(
            folder=str(self._folder),
            shown=self._display_name,
            pid=self._pid,
            live=not launch.quiet and _terminal(),
            stop_on_critical=launch.stop_on_critical,
            quiet=launch.quiet,
            everything=launch.everything,
            json=launch.json,
            html=launch.html,
            fail_on=launch.fail_on,
            misplaced=launch.misplaced,
            check_data=launch.check_data,
        )

    @property
    def _options(self) -> children.Options:
        launch = self.launch
        return {
            "budget": launch.budget,
            "internals": launch.internals,
            "steps": launch.steps,
            "stop_on_critical": launch.stop_on_critical,
        }

    def _recorder(self) -> Recorder:
        launch = self.launch
        recorder = start(
            self._folder,
            rank=launch.rank.rank,
            **self._options,
            facts=facts(launch.program.path, launch.program.command, launch.rank.world),
        )
        recorder.journal.begin()
        return recorder

    def _insist(self, why: str) -> None:
        """The program continues, whatever it is asked: end it here, as well as that can be done."""
        if os.getpid() == self._pid:
            atexit._run_exitfuncs()
        leave(self.recorder.close, why, self.result or 0 if self.launch.fail_on is not None else 0)

    def _finish(self) -> None:
        """At the very end: after the program's threads and its own `atexit` functions."""
        if os.getpid() != self._pid:
            return
        with keys_held():
            self._close()
        if self._monitor is None:
            return
        dropped, why = self.recorder.dropped, self.recorder.journal.error
        lost_lines = f"{why}: {dropped} lines of the recording were lost" if dropped else ""
        how, text = self.recorder.ended(*self.how)
        framework = self.recorder.framework if self.recorder.step else frameworks.blind()
        if self.recorder.step and framework.partition(":")[0] == self.launch.framework:
            framework = ""  # as it was said
        outcome = {"how": how, "text": text, "framework": framework, "lost": lost_lines}
        code = self._monitor.end(outcome)
        self.result = 2 if code is None else code

    def _close(self) -> None:
        self._overheard.stop()
        with contextlib.suppress(Exception):
            self._links.close()
            self._take_over()
            if not self.recorder.step and (why := frameworks.blind()):
                self.recorder.unseen("training", why)
                self.recorder.fact("framework", {"name": frameworks.imported(), "steps": 0})
            self.recorder.close(*self.how, self.crash)
        with contextlib.suppress(Exception):
            for stream in (sys.stdout, sys.stderr):
                if stream is not None:
                    stream.flush()

    def _take_over(self) -> None:
        """What a child that trained in this process's place has found out about the training."""
        if self.recorder.step:
            return
        facts, settings = children.written_facts(self._folder)
        if facts.get("pid") in (None, self._pid):
            return
        for path in facts.pop("links", None) or ():
            self._links.add(path)
        for key, value in facts.items():
            self.recorder.fact(key, value)
        for name, value in settings.items():
            self.recorder.setting(name, value)


def _terminal() -> bool:
    """Whether standard error is a terminal that supports a live display."""
    if os.environ.get("TERM", "dumb") in _NOT_DRAWN_ON or any(map(os.environ.get, _NO_TERMINAL)):
        return False
    with contextlib.suppress(OSError):
        return os.isatty(2)
    return False


def _display_name(folder: Path) -> str:
    """The shorter of its two names."""
    with contextlib.suppress(ValueError):
        return str(folder.relative_to(Path.cwd()))
    return str(folder)
