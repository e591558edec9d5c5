"""The tools that run a script: as it is, changed in copies of its folder, or to find a fix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import Field

from traindx.serve.mcp.answers import AnswerResult
from traindx.serve.mcp.desk import Desk, Wait
from traindx.serve.mcp.programs import (
    ScriptToRun,
    budget,
    ending,
    free_name,
    other_file,
    script_to_run,
    steps_option,
)
from traindx.serve.mcp.roots import ClientRoots

Script = Annotated[str, Field(description="The training script, a Python file. It is executed.")]
Args = Annotated[tuple[str, ...], Field(description="Its command-line arguments.")]
Folder = Annotated[str, Field(description="The folder to run it in; default: the root.")]
Minutes = Annotated[float, Field(gt=0, le=720, description="Time for everything.")]
Steps = Annotated[int, Field(ge=0, description="Optimizer steps of each run, at most; 0: its own.")]
Metric = Annotated[str, Field(description="The series to judge by; default: validation, else training loss.")]
Several = tuple[str, ...]
_WAIT = 25.0


class RunningTools:
    """Each runs the script that it is given, or that a recording names, and nothing else."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    @property
    def tools(self) -> tuple[Callable[..., Any], ...]:
        return self.run, self.preflight, self.lr_find, self.confirm, self.prove, self.treat, self.job

    async def run(
        self,
        script: Script,
        ctx: Context,
        client: ClientRoots,
        args: Args = (),
        folder: Folder = "",
        steps: Annotated[int, Field(ge=1, description="Stop cleanly after so many steps.")] = 300,
        minutes: Minutes = 5.0,
        tokens: Annotated[int, Field(ge=100, le=20_000)] = 1200,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Run a training script unchanged for a bounded time, record it from inside, and brief the recording
        (.traindx/NAME). It writes what the script itself writes. Use it where a log says too little."""
        program = script_to_run(self._desk.limits.of(client), script, args, folder)
        out = free_name(program.folder / ".traindx", Path(script).stem)
        words = ["run", "--quiet", f"--steps={steps}", f"--out={out}", *program.words]
        order = program.order("run", words, 60 * minutes)
        order.commands = [words, ["brief", str(out), f"--tokens={tokens}"]]
        order.files, order.notes = [out], ending
        return await self._desk.run(ctx, order, wait)

    async def preflight(
        self,
        script: Script,
        ctx: Context,
        client: ClientRoots,
        args: Args = (),
        folder: Folder = "",
        steps: Steps = 0,
        minutes: Minutes = 5.0,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Short runs of a script in copies of its folder, before the long one: loss at the start against
        chance, whether one batch can be fitted, inputs and labels matter, gradients, determinism, speed."""
        program = script_to_run(self._desk.limits.of(client), script, args, folder)
        words = ["preflight", *steps_option(steps), budget(minutes), *program.words]
        order = program.experiment("preflight", words, minutes, {0: "nothing failed", 1: "something failed"})
        return await self._desk.run(ctx, order, wait)

    async def lr_find(
        self,
        script: Script,
        ctx: Context,
        client: ClientRoots,
        args: Args = (),
        folder: Folder = "",
        steps: Annotated[int, Field(ge=40, description="Steps of each ramp.")] = 150,
        seeds: Annotated[int, Field(ge=1, le=20)] = 3,
        minutes: Minutes = 10.0,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Which learning rates suit a script: it is run in copies with a rising rate, several seeds."""
        program = script_to_run(self._desk.limits.of(client), script, args, folder)
        words = ["lr-find", "--no-plot", f"--steps={steps}", f"--seeds={seeds}", budget(minutes)]
        meanings = {0: "a range was found", 1: "the curve supports no range"}
        order = program.experiment("lr_find", [*words, *program.words], minutes, meanings)
        return await self._desk.run(ctx, order, wait)

    async def confirm(
        self,
        what: Annotated[str, Field(description="A recording, whose program is executed, or a script.")],
        ctx: Context,
        client: ClientRoots,
        suspects: Annotated[
            Several, Field(description="Causes to test: 'lr_too_high', 'misaligned_labels@data.py:42'.")
        ] = (),
        suspect_patches: Annotated[
            Several, Field(description="Files of diffs: a cause without a name is what the edit removes.")
        ] = (),
        args: Args = (),
        folder: Folder = "",
        steps: Steps = 0,
        minutes: Minutes = 5.0,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Decide by experiments which cause it is: one thing is changed while the script runs in a copy of
        its folder, and compared with the script as it is. What you suspect is tested, too."""
        roots = self._desk.limits.of(client)
        path = roots.path(what, roots.working_folder(folder))
        if path.suffix == ".py":
            program = script_to_run(roots, what, args, folder)
        else:
            roots.refuse_foreign(path)
            program = ScriptToRun(roots, roots.working_folder(folder), (str(path),))
        suspected = [f"--suspect={suspect}" for suspect in suspects]
        suspected += [f"--suspect-patch={program.path(patch)}" for patch in suspect_patches]
        words = ["confirm", budget(minutes), *steps_option(steps), *suspected, *program.words]
        meanings = {0: "nothing is wrong", 1: "there is a problem"}
        order = program.experiment("confirm", words, minutes, meanings)
        return await self._desk.run(ctx, order, wait)

    async def prove(
        self,
        script: Script,
        ctx: Context,
        client: ClientRoots,
        args: Args = (),
        folder: Folder = "",
        with_scripts: Annotated[Several, Field(description="Other versions of the script.")] = (),
        patches: Annotated[Several, Field(description="Files that hold a unified diff.")] = (),
        settings: Annotated[Several, Field(description="Knobs: 'lr=1e-3'; a race: 'lr=1e-4,1e-3'.")] = (),
        other_args: Annotated[Several, Field(description="Other arguments: '--lr 0.001'.")] = (),
        files: Annotated[Several, Field(description="Other data: 'train.csv=clean.csv'.")] = (),
        drop: Annotated[Several, Field(description="Rows of .csv files left out: 'site == 2'.")] = (),
        base: Annotated[str, Field(description="A commit against the files as they are now.")] = "",
        git: Annotated[str, Field(description="Two commits: 'main..HEAD'.")] = "",
        metric: Metric = "",
        steps: Steps = 0,
        effort: Literal["quick", "usual", "sure"] = "usual",
        minutes: Minutes = 15.0,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Is a change better? Both versions run in copies on the same seeds, in pairs, until the answer is
        clear: better, worse, no difference or cannot tell. Several candidates race. Changes that only look
        better (another loss, other data, a seed) are found out. Give at least one change."""
        program = script_to_run(self._desk.limits.of(client), script, args, folder)
        changes = [
            *(f"--with={program.path(version)}" for version in with_scripts),
            *(f"--patch={program.path(patch)}" for patch in patches),
            *(f"--set={setting}" for setting in settings),
            *(f"--args={arguments}" for arguments in other_args),
            *(f"--file={other_file(file, program)}" for file in files),
            *(f"--drop={condition}" for condition in drop),
            *([f"--base={base}"] if base else []),
            *([f"--git={git}"] if git else []),
        ]
        if not changes:
            raise ToolError(
                "give a change: with_scripts, patches, settings, other_args, files, drop, base, git."
            )
        options = [*steps_option(steps), budget(minutes), *([f"--metric={metric}"] if metric else [])]
        options += [f"--{effort}"] if effort != "usual" else []
        words = ["prove", *changes, *options, *program.words]
        order = program.experiment("prove", words, minutes, {0: "better", 1: "not better"})
        return await self._desk.run(ctx, order, wait)

    async def treat(
        self,
        script: Script,
        ctx: Context,
        client: ClientRoots,
        args: Args = (),
        folder: Folder = "",
        action: Annotated[
            Literal["plan", "trials", "apply"],
            Field(
                description="plan: what would be tried; trials: try, prove, give the diff; apply: write it."
            ),
        ] = "trials",
        only: Annotated[str, Field(description="Try this remedy only.")] = "",
        recording: Annotated[str, Field(description="Begin with this recording's diagnosis.")] = "",
        metric: Metric = "",
        steps: Steps = 0,
        minutes: Minutes = 15.0,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """Find a fix: try remedies for the likely causes in paired runs, in copies of the folder, turn the
        best into a diff, and prove the edited script. Only action apply changes files, if it is allowed."""
        if action == "apply" and not self._desk.allow_apply:
            raise ToolError(
                "this server does not apply changes: show the diff of action trials to the person, or start "
                "it with 'traindx mcp --allow-apply'."
            )
        program = script_to_run(self._desk.limits.of(client), script, args, folder)
        out = free_name(program.folder / ".traindx", "treat")
        words = ["treat", budget(minutes), f"--out={out}", *steps_option(steps)]
        words += [f"--metric={metric}"] if metric else []
        words += [f"--only={only}"] if only else []
        words += [f"--recording={program.path(recording)}"] if recording else []
        words += {"plan": ["--dry-run"], "trials": [], "apply": ["--apply"]}[action]
        plan = {0: "the plan; nothing was tried"}
        meanings = plan if action == "plan" else {0: "nothing is wrong, or fixed", 1: "the problem stays"}
        order = program.experiment("treat", [*words, *program.words], minutes, meanings)
        order.files = [out]
        return await self._desk.run(ctx, order, wait)

    async def job(
        self,
        id: Annotated[str, Field(description="What a tool has returned as job.")],
        ctx: Context,
        cancel: Annotated[bool, Field(description="End it, with everything that it started.")] = False,
        wait: Wait = _WAIT,
    ) -> AnswerResult:
        """The answer of a tool that was still running; waits for it. Or cancel it."""
        job = self._desk.jobs.of(id)
        if cancel:
            job.cancel()
        return await self._desk.answer(ctx, job, max(wait, 10.0) if cancel else wait)
