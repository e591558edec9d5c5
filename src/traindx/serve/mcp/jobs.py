"""Commands of traindx in processes of their own, which may take longer than a client waits."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

from mcp.server.mcpserver.exceptions import ToolError

from traindx.report.text import visible

_KEPT = 60
_RUNNING_MOST = 8
_READ_MOST = 4_000_000
_PATIENCE = (3.0, 2.0)
_TICK = 0.05
# As the script `traindx` begins: nothing of the working folder is imported in place of a library. Where the
# system can, it ends with the server, even if that is killed.
_START = (
    "import sys; sys.path[0] = sys.prefix; "
    "from traindx.experiment.sandbox.processes import end_with_parent; end_with_parent(); "
    "from traindx.cli import main; main()"
)
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)


class CommandJob:
    """Commands one after the other; `limit` seconds for the first, which is then interrupted."""

    def __init__(
        self, tool: str, commands: Sequence[Sequence[str]], cwd: Path, *, limit: float | None
    ) -> None:
        self.id = f"{tool}-{secrets.token_hex(4)}"
        self.tool = tool
        self.codes: list[int] = []
        self.cancelled = False
        self.done = threading.Event()
        self.began = time.monotonic()
        self.seconds = 0.0
        self._commands = commands
        self._cwd = cwd
        self._limit = limit
        self._folder = Path(tempfile.mkdtemp(prefix="traindx-mcp-"))
        self._hurry = False
        self._thread = threading.Thread(target=self._work, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def file(self, name: str) -> Path:
        """A place for what a command is given, gone with the job."""
        return self._folder / name

    def output(self, number: int = -1) -> str:
        """What a command has printed so far."""
        return self._read("out", number)

    def errors(self, number: int = -1) -> str:
        return self._read("err", number)

    def _read(self, stream: str, number: int) -> str:
        at = number if number >= 0 else max(len(self.codes) - 1, 0) if self.done.is_set() else len(self.codes)
        try:
            with open(self._folder / f"{at}.{stream}", "rb") as file:
                return file.read(_READ_MOST).decode("utf-8", "replace")
        except OSError:
            return ""

    def last_line(self) -> str:
        """What it does now, for whoever waits."""
        for text in (self.output(), self.errors()):
            lines = [line.strip() for line in text[-2000:].replace("\r", "\n").splitlines()]
            if last := next((line for line in reversed(lines) if line), ""):
                return visible(last, 160)
        return ""

    def cancel(self, *, hurry: bool = False) -> None:
        """End the command that runs and all it started; those after it are not begun."""
        self.cancelled = True
        self._hurry = self._hurry or hurry

    def forget(self) -> None:
        shutil.rmtree(self._folder, ignore_errors=True)

    def join(self, seconds: float) -> None:
        self._thread.join(seconds)

    def _work(self) -> None:
        try:
            for number, command in enumerate(self._commands):
                if self.cancelled:
                    break
                self.codes.append(self._run(number, command))
        finally:
            self.seconds = time.monotonic() - self.began
            self.done.set()

    def _run(self, number: int, command: Sequence[str]) -> int:
        words = [sys.executable, "-c", _START, *command]
        out, err = self._folder / f"{number}.out", self._folder / f"{number}.err"
        with open(out, "wb") as output, open(err, "wb") as errors:
            process = subprocess.Popen(
                words,
                cwd=self._cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=errors,
                env=_environment(),
                start_new_session=True,
            )
        deadline = None if self._limit is None or number else time.monotonic() + self._limit
        signalled, at = 0, 0.0
        while (code := process.poll()) is None:
            late = deadline is not None and time.monotonic() > deadline
            if (self.cancelled or late) and signalled < len(_SIGNALS) and time.monotonic() >= at:
                signalled = max(signalled, int(self._hurry))
                _signal(process.pid, _SIGNALS[signalled])
                patience = 0.7 if self._hurry else _PATIENCE[min(signalled, 1)]
                at = time.monotonic() + patience * (4 if late else 1)
                signalled += 1
            time.sleep(_TICK)
        _signal(process.pid, signal.SIGKILL)  # what it left behind in its group
        return code


def _signal(group: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


def _environment() -> dict[str, str]:
    plain = {"NO_COLOR": "1", "COLUMNS": "100", "TERM": "dumb", "PYTHONIOENCODING": "utf-8"}
    variables = {name: value for name, value in os.environ.items() if name != "FORCE_COLOR"}
    return {**variables, **plain}


class Jobs:
    """All jobs of a server, those that run and the latest that have ended."""

    def __init__(self) -> None:
        self._jobs: dict[str, CommandJob] = {}

    def add(self, job: CommandJob) -> CommandJob:
        running = [job.id for job in self._jobs.values() if not job.done.is_set()]
        if len(running) >= _RUNNING_MOST:
            job.forget()
            raise ToolError(
                f"{len(running)} jobs are running ({', '.join(running)}): wait for one, or cancel one."
            )
        ended = [job for job in self._jobs.values() if job.done.is_set()]
        for old_job in ended[: max(0, len(ended) - _KEPT)]:
            self._jobs.pop(old_job.id).forget()
        self._jobs[job.id] = job
        job.start()
        return job

    def __contains__(self, id: str) -> bool:
        return id in self._jobs

    def of(self, id: str) -> CommandJob:
        if id not in self._jobs:
            latest = ", ".join(list(self._jobs)[-5:]) or "none"
            raise ToolError(f"there is no job {visible(id, 60)!r}; the latest: {latest}.")
        return self._jobs[id]

    def end(self) -> None:
        """End everything, at once: the server ends."""
        for job in self._jobs.values():
            job.cancel(hurry=True)
        for job in self._jobs.values():
            job.join(3.0)
            job.forget()
        self._jobs.clear()
