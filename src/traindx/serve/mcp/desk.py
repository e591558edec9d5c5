"""How a tool runs a command: in a process, with progress, until it ends or the client has waited enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import anyio
from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import CallToolResult
from pydantic import Field

from traindx.report.text import visible
from traindx.serve.mcp.answers import ToolAnswer, json_of, result, shortened
from traindx.serve.mcp.jobs import CommandJob, Jobs
from traindx.serve.mcp.roots import Limits

Wait = Annotated[
    float,
    Field(ge=0, le=600, description="Seconds until a job id is returned instead."),
]
_PROGRESS_EVERY = 1.0
_POLL = 0.05
_FAILED = 2


@dataclass
class Order:
    """A command to run: its words, where, and how its end is to be read.

    `meanings` are what its exit codes say. With `details` it prints JSON, which becomes the document.
    """

    tool: str
    commands: Sequence[Sequence[str]]
    folder: Path
    meanings: Mapping[int, str] = field(default_factory=dict)
    files: Sequence[Path] = ()
    details: bool = False
    limit: float | None = None
    notes: Callable[[CommandJob], str] | None = None


class Desk:
    """What all tools share: the limits of paths, the jobs, and what the operator allowed."""

    def __init__(self, limits: Limits, *, allow_apply: bool) -> None:
        self.limits = limits
        self.jobs = Jobs()
        self.allow_apply = allow_apply
        self._orders: dict[str, Order] = {}

    def begin(self, order: Order) -> CommandJob:
        job = CommandJob(order.tool, order.commands, order.folder, limit=order.limit)
        self.jobs.add(job)
        self._orders = {id: previous for id, previous in self._orders.items() if id in self.jobs} | {
            job.id: order
        }
        return job

    async def run(self, ctx: Context, order: Order, wait: float) -> CallToolResult:
        """The answer, or the job after so many seconds. Cancelling the request ends the command."""
        return await self.answer(ctx, self.begin(order), wait, ends_with_request=True)

    async def answer(
        self, ctx: Context, job: CommandJob, wait: float, *, ends_with_request: bool = False
    ) -> CallToolResult:
        try:
            await waited(ctx, job, wait)
        except anyio.get_cancelled_exc_class():
            if ends_with_request:
                job.cancel()
            raise
        return self._result(job)

    def _result(self, job: CommandJob) -> CallToolResult:
        order = self._orders[job.id]
        files = [str(path) for path in order.files if path.exists()]
        if not job.done.is_set():
            seconds = anyio.current_time() - job.began
            now = f" ({job.last_line()})" if job.last_line() else ""
            text = f"Still running after {seconds:.0f} s{now}. Ask again with the tool job, id {job.id}."
            return result(
                text, ToolAnswer(status="running", answer="", job=job.id, seconds=seconds, files=files)
            )
        if job.cancelled:
            text = f"{job.id} was cancelled after {job.seconds:.0f} s."
            return result(text, ToolAnswer(status="cancelled", answer="", seconds=job.seconds, files=files))
        answer, document = self._read(job, order)
        code = job.codes[-1]
        data = ToolAnswer(
            status="done",
            answer=answer,
            meaning=order.meanings.get(code, ""),
            seconds=round(job.seconds, 2),
            files=files,
            document=document,
        )
        written_lines = [f"wrote {path}" for path in files]
        return result("\n".join([*([data.meaning] if data.meaning else []), answer, *written_lines]), data)

    def _read(self, job: CommandJob, order: Order) -> tuple[str, dict[str, Any]]:
        refuse_failed(job)
        text = job.output()
        notes = f"{order.notes(job)}\n" if order.notes is not None else ""
        if not order.details:
            return shortened(notes + text), {}
        try:
            return notes or "The whole document is in the structured content.", json_of(text)
        except ValueError:
            return shortened(notes + text), {}


async def waited(ctx: Context, job: CommandJob, seconds: float) -> None:
    """Until a job has ended or so many seconds are over; the client hears what it does."""
    end, next_report = anyio.current_time() + seconds, anyio.current_time() + _PROGRESS_EVERY
    while not job.done.is_set() and anyio.current_time() < end:
        await anyio.sleep(_POLL)
        if anyio.current_time() >= next_report:
            next_report += _PROGRESS_EVERY
            await ctx.report_progress(
                round(anyio.current_time() - job.began, 1), None, job.last_line() or None
            )


def refuse_failed(job: CommandJob) -> None:
    """A command that could not do it has said why in one line, and what to do."""
    if job.codes and 0 <= job.codes[-1] < _FAILED:
        return
    for number in range(len(job.codes)):
        lines = [line.strip() for line in job.errors(number).splitlines() if line.strip()]
        for line in reversed(lines):
            if line.startswith("Error: "):
                raise ToolError(visible(line.removeprefix("Error: "), 600))
    last = job.last_line() or f"exit code {job.codes[-1] if job.codes else None}"
    raise ToolError(f"the command ended early: {visible(last, 400)}")
