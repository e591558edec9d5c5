"""The tools whose answer is made of a document: which runs there are, what to ask next, a page."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from traindx.core.number_text import short
from traindx.report.text import count, visible
from traindx.serve.mcp.answers import (
    FoundRun,
    FoundRuns,
    KnownPage,
    NextQuestion,
    PageResult,
    QuestionResult,
    RunsResult,
    json_of,
    result,
)
from traindx.serve.mcp.desk import Desk, Order, Wait, refuse_failed, waited
from traindx.serve.mcp.pages import page_of
from traindx.serve.mcp.roots import ClientRoots

Answers = Annotated[
    dict[str, Any], Field(default_factory=dict, description="Question id to answer, all so far.")
]
_MAIN = ("loss", "val/loss", "reward")


class SearchingTools:
    """Where to begin, with logs and without."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def tools(self) -> tuple[Callable[..., Any], ...]:
        return self.find_runs, self.ask, self.explain

    async def find_runs(
        self,
        ctx: Context,
        client: ClientRoots,
        folder: Annotated[str, Field(description="Where to look; default: the root.")] = ".",
        contains: Annotated[str, Field(description="Only paths that hold this text.")] = "",
        most: Annotated[int, Field(ge=1, le=500)] = 30,
        wait: Wait = 120.0,
    ) -> RunsResult:
        """List the training runs below a folder: recordings and logs of any format, the newest first. Start
        here when you do not know where the logs are; then brief one of the paths."""
        roots = self._desk.limits.of(client)
        words = ["inspect", "--json", "--no-points", roots.word(folder)]
        document = await self._document(ctx, Order("find_runs", [words], roots.folders[0]), wait)
        runs = {(run["path"], run["name"]): _found_run(run) for run in document["runs"]}
        listed = sorted(
            (run for run in runs.values() if contains in run.path), key=partial(_age, roots.folders[0])
        )
        data = FoundRuns(
            total=len(runs),
            runs=listed[:most],
            left_out=max(0, len(listed) - most),
            not_read=len(document["skipped"]),
        )
        lines = [f"{count(len(runs), 'run')} in {visible(folder, 120)}"]
        lines += [f"{run.path} ({run.format}, {run.last}): {run.curve}" for run in data.runs]
        if data.left_out:
            lines.append(f"{data.left_out:,} more: give `contains`, a folder below, or `most`.")
        return result("\n".join(lines), data)

    async def ask(
        self,
        ctx: Context,
        client: ClientRoots,
        answers: Answers,
        symptoms: Annotated[str, Field(description="What goes wrong: 'loss is NaN after step 200'.")] = "",
        path: Annotated[str, Field(description="A log, recording or script, if there is one.")] = "",
        wait: Wait = 40.0,
    ) -> QuestionResult:
        """Interview: the ranked causes from what is known so far, and the question that would tell most.
        Answer it from the project where you can, else ask the person; call again with all answers so far."""
        roots = self._desk.limits.of(client)
        words = ["ask", *([roots.word(path)] if path else []), "--json"]
        words += [f"--symptoms={symptoms}"] if symptoms else []
        with TemporaryDirectory(prefix="traindx-mcp-") as folder:
            if answers:
                file = Path(folder) / "answers.json"
                file.write_text(json.dumps(answers), encoding="utf-8")
                words.append(f"--answers={file}")
            document = await self._document(ctx, Order("ask", [words], roots.folders[0]), wait)
        return _question(document)

    async def explain(self, id: Annotated[str, Field(description="Such as lr_too_high.")]) -> PageResult:
        """The page of a cause, symptom, remedy, finding, change, check or reference sheet that a diagnosis
        names."""
        markdown = page_of(id)
        return result(markdown, KnownPage(id=id, markdown=markdown))

    async def _document(self, ctx: Context, order: Order, wait: float) -> dict[str, Any]:
        """What a command prints as JSON; there is no job to come back to."""
        job = self._desk.begin(order)
        try:
            await waited(ctx, job, wait)
        finally:
            if not job.done.is_set():
                job.cancel()
        if not job.done.is_set():
            raise ToolError(f"no answer within {wait:.0f} s: give a smaller folder, or a longer wait.")
        if not job.output():
            refuse_failed(job)
        try:
            return json_of(job.output())
        except ValueError:
            refuse_failed(job)
            raise ToolError("the answer is too long to be read: give a smaller folder.") from None


def _age(folder: Path, run: FoundRun) -> tuple[float, str]:
    try:
        return -os.stat(folder / run.path).st_mtime, run.path
    except OSError:
        return 0.0, run.path


def _found_run(run: dict[str, Any]) -> FoundRun:
    series = {series_dict["name"]: series_dict for series_dict in run["series"]}
    main = next((series[name] for name in _MAIN if name in series), None) or next(iter(series.values()), None)
    last = run["last_step"]
    return FoundRun(
        path=run["path"],
        name=run["name"],
        format=run["format"],
        last=f"{run['axis']} {_number(last)}" if last is not None else "no steps",
        curve=f"{main['name']} {_number(main['first'])} -> {_number(main['last'])}" if main else "no values",
    )


def _number(value: Any) -> str:
    return short(float(value)) if isinstance(value, int | float) else str(value)


def _question(document: dict[str, Any]) -> CallToolResult:
    interview = document["interview"]
    following = interview["next"] or {"question": None, "ask": "", "options": {}}
    causes = [
        {"cause": hypothesis["cause"], "confidence": hypothesis["confidence"], "symptom": problem["symptom"]}
        for problem in document["problems"]
        for hypothesis in problem["hypotheses"][:5]
    ]
    data = NextQuestion(
        verdict=document["verdict"],
        causes=causes,
        question=following["question"],
        ask=following["ask"],
        options=following["options"],
        contradictions=[str(contradiction) for contradiction in interview["contradictions"]],
    )
    lines = [f"{cause['cause']} {cause['confidence']:.0%}" for cause in causes] or ["no cause yet"]
    if data.question is not None:
        lines += [f"next: {data.ask} (answers: {{{data.question!r}: ...}}; {following['why']})"]
        lines += [f"  {name}: {words}" for name, words in data.options.items()]
    return result("\n".join(lines), data)
