"""The tools that only read: measured facts, diagnoses, comparisons, source, data files, checkpoints."""

from __future__ import annotations

import base64
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult, ImageContent
from pydantic import Field

from traindx.serve.mcp.answers import AnswerResult
from traindx.serve.mcp.desk import Desk, Order, Wait
from traindx.serve.mcp.roots import ClientRoots, Roots

LogPath = Annotated[str, Field(description="A recording (.traindx/NAME), a log, or a folder of runs.")]
Details = Annotated[bool, Field(description="The whole JSON instead of one screen.")]
ScriptRead = Annotated[str, Field(description="The training script, if it is not known: lines are named.")]
_HEALTH = {0: "nothing calls for action", 1: "a problem was found"}
_WAIT = 40.0


class ReadingTools:
    """Nothing of a project is run or written by these."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def tools(self) -> tuple[Callable[..., Any], ...]:
        return self.brief, self.show, self.diagnose, self.compare, self.lint, self.check

    async def brief(
        self,
        path: LogPath,
        ctx: Context,
        client: ClientRoots,
        tokens: Annotated[int, Field(ge=100, le=20_000)] = 1200,
        script: ScriptRead = "",
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """One page of measured facts about a training: what it learns on what, how far it got against chance
        and simple models, where the curves turned, what is odd inside, time and memory, what was not measured
        and how to, ranked causes with places. Each line has a handle (F7) for the tool show. Of a folder, a
        line a run."""
        roots = self._desk.limits.of(client)
        words = ["brief", roots.word(path), f"--tokens={tokens}", *_script(roots, script)]
        return await self._desk.run(ctx, Order("brief", [words], roots.folders[0]), wait)

    async def show(
        self,
        path: LogPath,
        handle: Annotated[str, Field(description="What the line of brief begins with: F7, or F3.7.")],
        ctx: Context,
        client: ClientRoots,
        picture: Annotated[bool, Field(description="Draw its curves or layers, too.")] = False,
        details: Annotated[bool, Field(description="Every point and row, as JSON.")] = False,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """What is behind a line of brief: numbers and thresholds, the table, the series, a picture."""
        roots = self._desk.limits.of(client)
        words = ["show", roots.word(path), *(["--json=-"] if details else [])]
        order = Order("show", [[*words, "--", handle]], roots.folders[0], details=details)
        if not picture:
            return await self._desk.run(ctx, order, wait)
        with TemporaryDirectory(prefix="traindx-mcp-") as folder:
            target = Path(folder) / "picture.png"
            order.commands = [[*words, f"--png={target}", "--", handle]]
            answer: CallToolResult = await self._desk.run(ctx, order, wait)
            if target.exists():
                data = base64.b64encode(target.read_bytes()).decode()
                answer.content.append(ImageContent(type="image", data=data, mime_type="image/png"))
        return answer

    async def diagnose(
        self,
        path: LogPath,
        ctx: Context,
        client: ClientRoots,
        script: ScriptRead = "",
        details: Details = False,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """What is wrong with a training, how surely, on what evidence, and what to do first; of a folder of
        runs a table, worst first. brief has the measurements."""
        roots = self._desk.limits.of(client)
        words = ["diagnose", roots.word(path), *_script(roots, script)]
        return await self._report(ctx, words, roots, details, wait)

    async def compare(
        self,
        paths: Annotated[
            list[str], Field(min_length=1, description="Logs, run folders, or one of many runs.")
        ],
        ctx: Context,
        client: ClientRoots,
        metric: Annotated[str, Field(description="Default: the best that all share.")] = "",
        baseline: Annotated[str, Field(description="A good run: the others are diagnosed by it.")] = "",
        details: Details = False,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Training runs side by side: which settings differ, which run is better and how surely, where they
        part, and of a sweep what matters and what to try next."""
        roots = self._desk.limits.of(client)
        words = ["compare", *(roots.word(path) for path in paths)]
        words += [f"--metric={metric}"] if metric else []
        words += [f"--baseline={roots.word(baseline)}"] if baseline else []
        return await self._report(ctx, words, roots, details, wait)

    async def lint(
        self,
        paths: Annotated[list[str], Field(min_length=1, description="Training scripts, or folders of them.")],
        ctx: Context,
        client: ClientRoots,
        details: Details = False,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Read training scripts (PyTorch, Keras) without running them: mistakes, with line and edit."""
        roots = self._desk.limits.of(client)
        return await self._report(ctx, ["lint", *(roots.word(path) for path in paths)], roots, details, wait)

    async def check(
        self,
        paths: Annotated[
            list[str],
            Field(
                min_length=1,
                description="Data files (training and validation together, with their statistics), "
                "folders of images, checkpoints; or a recording, for the files it read.",
            ),
        ],
        ctx: Context,
        client: ClientRoots,
        target: Annotated[str, Field(description="The column of the labels.")] = "",
        details: Details = False,
        wait: Wait = 60.0,
    ) -> AnswerResult:
        """Check data files or checkpoints without a training: sentinels, units, wrong or shifted labels,
        leaks between files, columns that give the answer away, statistics of other data; broken weights."""
        roots = self._desk.limits.of(client)
        for path in paths:
            roots.refuse_foreign(roots.path(path))
        words = ["check", *map(roots.word, paths), *([f"--target={target}"] if target else [])]
        return await self._report(ctx, words, roots, details, wait)

    async def _report(
        self, ctx: Context, words: list[str], roots: Roots, details: bool, wait: float
    ) -> CallToolResult:
        """A report on one screen, or as the document that it is made of."""
        words = [*words, *(["--json"] if details else [])]
        meanings = {} if words[0] == "compare" else _HEALTH
        return await self._desk.run(
            ctx, Order(words[0], [words], roots.folders[0], meanings, details=details), wait
        )


def _script(roots: Roots, script: str) -> list[str]:
    return [f"--script={roots.word(script)}"] if script else []
