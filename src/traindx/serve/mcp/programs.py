"""A script to be run: where it is, its words, and the order that runs a command on it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from mcp.server.mcpserver.exceptions import ToolError

from traindx.report.text import visible
from traindx.serve.mcp.desk import Order
from traindx.serve.mcp.jobs import CommandJob
from traindx.serve.mcp.roots import Roots

# Commands end by their own budget; so many seconds later they are interrupted.
_GRACE = 60.0
_LINES_SHOWN = 12


@dataclass(frozen=True)
class ScriptToRun:
    """Inside the roots; `words` run it from its folder."""

    roots: Roots
    folder: Path
    words: tuple[str, ...]

    def path(self, text: str) -> Path:
        return self.roots.path(text, self.folder)

    def order(self, tool: str, words: Sequence[str], seconds: float) -> Order:
        return Order(tool, [words], self.folder, limit=seconds)

    def experiment(
        self, tool: str, words: Sequence[str], minutes: float, meanings: Mapping[int, str]
    ) -> Order:
        """A command that keeps its own time."""
        order = self.order(tool, words, 60 * minutes + _GRACE)
        order.meanings = meanings
        return order


def script_to_run(roots: Roots, script: str, args: Sequence[str], folder: str) -> ScriptToRun:
    working = roots.working_folder(folder)
    path = roots.path(script, working)
    if path.suffix != ".py" or not path.is_file():
        raise ToolError(f"{visible(script, 200)} is no Python file: give the training script.")
    name = os.path.relpath(path, working)
    return ScriptToRun(roots, working, (f"./{name}" if name.startswith("-") else name, *args))


def ending(job: CommandJob) -> str:
    """How the program itself ended, and where it failed what it said."""
    code = job.codes[0] if job.codes else None
    if code == 0:
        return "program: exit code 0"
    last = [line for line in (job.output(0) + job.errors(0)).splitlines() if line.strip()][-_LINES_SHOWN:]
    return "\n".join([f"program: exit code {code}", *(visible(line, 300) for line in last)])


def free_name(folder: Path, name: str) -> Path:
    """A name in a folder that nothing has yet."""
    number = 1
    while (folder / f"{name}-{number}").exists():
        number += 1
    return folder / f"{name}-{number}"


def budget(minutes: float) -> str:
    return f"--time-budget={max(1, round(60 * minutes))}s"


def steps_option(steps: int) -> list[str]:
    return [f"--steps={steps}"] if steps else []


def other_file(text: str, program: ScriptToRun) -> str:
    """`OLD=NEW`, both inside the roots."""
    old, equals, new = text.partition("=")
    if not equals:
        raise ToolError(f"files takes OLD=NEW, like train.csv=clean.csv; got {visible(text, 80)!r}.")
    program.roots.place(old, program.folder)
    return f"{old}={program.path(new)}"
