"""Run the training scripts below `tests/scripts/`, plain and under `traindx run`, and compare.

Importing torch takes longer than most of these trainings. So plain runs are forked from a process that
has imported it already (`warm.py`); the recorded run is always the real command.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .script_checks import Both, Outcome
from .warm import environment, warm

SCRIPTS = Path(__file__).resolve().parent / "scripts"
ALL = any(map(os.environ.get, ("TRAINDX_ALL_SCRIPTS", "TRAINDX_HOSTILE")))
TRAINDX = (sys.executable, "-m", "traindx", "run", "--quiet")
_TORCHRUN = (sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node")
_LOG_HEAD = re.compile(r"^([VIWEF])\d{4} [\d:.]+ \d+ |^(USDT):\S+ \S+ \S+ ", re.MULTILINE)
_TORCH_RACE = "terminate called without an active exception"
_SECONDS = 120


@dataclass(frozen=True)
class Script:
    """How a script is started; `alone`: its plain run needs a Python of its own, not a forked one."""

    command: str
    alone: bool = False
    processes: int = 0
    before: str = ""
    after: str = ""
    stdin: str = ""
    slow: bool = False

    @property
    def argv(self) -> list[str]:
        return self.command.split()


def script(command: str, **how: Any) -> Any:
    """The test gets `both` runs of this script."""
    return pytest.mark.parametrize("both", [Script(command, **how)], indirect=True, ids=[command])


@contextlib.contextmanager
def run_ahead(request: pytest.FixtureRequest, folder: Path) -> Iterator[Runs]:
    """The scripts that the chosen tests of a module ask for, a few at a time, before they are asked for."""
    items = [item for item in request.session.items if isinstance(item, pytest.Function)]
    mine = [
        item.callspec.params
        for item in items
        if item.module is request.module and "both" in item.fixturenames
    ]
    runs = Runs([given["both"] for given in mine], folder)
    try:
        yield runs
    finally:
        runs.close()


class Runs:
    """Scripts run ahead of the tests that ask for them, but not far: another worker may take the rest."""

    def __init__(self, scripts: list[Script], folder: Path) -> None:
        self._folder = folder
        self._scripts = [script for script in scripts if not script.slow or ALL]
        self._threads = max(2, os.cpu_count() or 1)
        self._pool = ThreadPoolExecutor(self._threads)
        self._futures: dict[Script, Future[Both]] = {}

    def __getitem__(self, script: Script) -> Both:
        if script not in self._scripts:
            pytest.skip("one of many: set TRAINDX_ALL_SCRIPTS=1")
        first = self._scripts.index(script)
        for one in self._scripts[first : first + 1 + self._threads]:
            if one not in self._futures:
                self._futures[one] = self._pool.submit(self._run, one)
        return self._futures[script].result()

    def close(self) -> None:
        self._pool.shutdown(cancel_futures=True)

    def _run(self, script: Script) -> Both:
        name = "_".join(re.findall(r"\w+", script.command))
        plain, recorded = (_copy(self._folder / name / kind) for kind in ("plain", "recorded"))
        if script.before:
            assert warm.run(script.before.split(), plain, plain.parent) == 0
            assert warm.run(script.before.split(), recorded, recorded.parent) == 0
        if script.alone or script.processes or script.stdin:
            code = _repeat(lambda: _spawn(_command(script, (sys.executable,)), plain, script.stdin), plain)
        else:
            code = warm.run(script.argv, plain, plain.parent)
        watched = _repeat(lambda: _spawn(_command(script, TRAINDX), recorded, script.stdin), recorded)
        both = Both(_outcome(plain, code), _outcome(recorded, watched))
        if script.after:
            assert warm.run(script.after.split(), recorded, recorded.parent) == 0
        return both


def _repeat(run: Callable[[], int], folder: Path) -> int:
    """torch's own threads may outlive their process group, now and then, and abort the process."""
    for _ in range(3):
        shutil.rmtree(folder / ".traindx", ignore_errors=True)
        code = run()
        if _TORCH_RACE not in (folder / "../err.txt").read_text():
            break
    return code


def _copy(folder: Path) -> Path:
    home = folder / "home"
    shutil.copytree(SCRIPTS, home, ignore=shutil.ignore_patterns("__pycache__", ".traindx"))
    return home


def _command(script: Script, python: tuple[str, ...]) -> list[str]:
    if not script.processes:
        return [*python, *script.argv]
    program = [*(python[1:] if len(python) > 1 else ()), *script.argv]
    return [*_TORCHRUN, str(script.processes), *program]


def _spawn(command: list[str], folder: Path, stdin: str = "") -> int:
    with open(folder / "../out.txt", "wb") as out, open(folder / "../err.txt", "wb") as err:
        done = subprocess.run(
            command,
            cwd=folder,
            input=stdin.encode(),
            stdout=out,
            stderr=err,
            timeout=_SECONDS,
            env=environment(),
            check=False,
        )
    return done.returncode


def _outcome(folder: Path, code: int) -> Outcome:
    out, err = ((folder / f"../{name}.txt").read_text("utf-8") for name in ("out", "err"))
    return Outcome(
        folder, code, *[_LOG_HEAD.sub(r"\1 ", text.replace(str(folder), ".")) for text in (out, err)]
    )
