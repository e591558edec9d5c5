"""The monitor process: shows, stops and diagnoses a training, so that the training need not.

It is started before the program and is nobody's child: the program may wait for its own children without
meeting it. One pipe ends, by a line or by breaking, when the training is over; the other when the report
is done.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from traindx.observe.journal import identity, off_standard

_MAIN = "import sys; sys.path.append(sys.argv.pop(1)); from traindx.cli._monitor import main; main()"
_HELD = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
# It must not bring threads of its own to the training's cores, nor the program's wishes for Python.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_NOT_FOR_IT = ("PYTHONINSPECT", "PYTHONOPTIMIZE", "PYTHONPROFILEIMPORTTIME", "TRAINDX_RECORDING")
_PATIENCE = 120.0


@dataclass(frozen=True)
class Orders:
    """What the monitor process is to do; travels as JSON."""

    folder: str
    shown: str
    pid: int
    live: bool = False
    stop_on_critical: bool = False
    quiet: bool = False
    everything: bool = False
    json: str | None = None
    html: str | None = None
    fail_on: str | None = None
    misplaced: str = ""
    check_data: bool = True
    done: int = -1
    """The descriptor to say the result on."""


class MonitorProcess:
    """Our ends of the two pipes."""

    def __init__(self, tell: int, hear: int) -> None:
        self._pipes = {tell: _identity(tell), hear: _identity(hear)}
        self._tell = tell
        self._hear = hear

    def end(self, outcome: Mapping[str, object]) -> int | None:
        """The training is over: let the monitor report, and wait. Its exit code; None when it is gone."""
        line = (json.dumps(outcome) + "\n").encode()
        try:
            with contextlib.suppress(OSError, KeyboardInterrupt):
                if not self._ours(self._tell) or not self._ours(self._hear) or not _has_reader(self._tell):
                    return None
                os.write(self._tell, line)
                if select.select([self._hear], [], [], _PATIENCE)[0]:
                    answer = os.read(self._hear, 1)
                    return answer[0] if answer else None
            return None
        finally:
            self.let_go()

    def let_go(self) -> None:
        """Close the pipes, here or in a forked child: it must not seem as if the training continued."""
        for descriptor in list(self._pipes):
            if self._ours(descriptor):
                with contextlib.suppress(OSError):
                    os.close(descriptor)
        self._pipes.clear()

    def _ours(self, descriptor: int) -> bool:
        """A program may have closed what it does not know, and its own file may have the number now."""
        identity = self._pipes.get(descriptor)
        return identity is not None and identity == _identity(descriptor)


class LateMonitorProcess(MonitorProcess):
    """Where processes cannot fork: it is started when the training is over."""

    def __init__(self, orders: Orders) -> None:
        self._pipes = {}
        self._orders = orders

    def end(self, outcome: Mapping[str, object]) -> int | None:
        import subprocess

        with contextlib.suppress(OSError, KeyboardInterrupt):
            done = subprocess.run(
                _command(self._orders),
                input=json.dumps(outcome).encode() + b"\n",
                env=_environment(),
                stdout=sys.__stderr__,
                check=False,
            )
            return done.returncode
        return None


def start(orders: Orders) -> MonitorProcess | None:
    """The monitor at work; None where this Python cannot start another process."""
    if not sys.executable:
        return None
    if not hasattr(os, "fork"):
        return LateMonitorProcess(replace(orders, live=False))
    hears, tell = map(off_standard, os.pipe())
    hear, done = map(off_standard, os.pipe())
    command = _command(replace(orders, done=done))
    environment = _environment()
    signals = {getattr(signal, name) for name in _HELD}
    # A signal to all of the terminal's processes must not find it half started.
    previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        child = os.fork()
        if child == 0:
            _become(command, environment, hears, done)
        os.waitpid(child, 0)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
        os.close(hears)
        os.close(done)
    return MonitorProcess(tell, hear)


def _command(orders: Orders) -> list[str]:
    home = str(Path(__file__).parents[2])
    options = ["-W", "ignore", "-P", "-c", _MAIN, home]
    return [sys.executable, *options, json.dumps(asdict(orders))]


def _environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in _NOT_FOR_IT} | _ENVIRONMENT


def _become(command: list[str], environment: dict[str, str], hears: int, done: int) -> None:
    """In the child: leave a child of its own behind and go, so that nobody has to wait for it."""
    try:
        if os.fork():
            os._exit(0)
        os.dup2(hears, 0)
        try:
            os.dup2(2, 1)
        except OSError:
            nowhere = off_standard(os.open(os.devnull, os.O_WRONLY))
            os.dup2(nowhere, 1)
            os.dup2(nowhere, 2)
        os.set_inheritable(done, True)
        os.execve(command[0], command, environment)
    finally:
        os._exit(127)


def _identity(descriptor: int) -> tuple[int, int] | None:
    with contextlib.suppress(OSError):
        return identity(os.fstat(descriptor))
    return None


def _has_reader(descriptor: int) -> bool:
    """Whether the other end is there: a write to a broken pipe may kill where SIGPIPE has its default."""
    poll = select.poll()
    poll.register(descriptor, select.POLLERR)
    return not poll.poll(0)
