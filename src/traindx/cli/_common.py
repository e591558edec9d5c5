"""What every command has, whoever writes it: `--quiet`, and completion of its words by a shell."""

from __future__ import annotations

import os

import click
from click.shell_completion import CompletionItem

COMPLETE_VARIABLE = "_TRAINDX_COMPLETE"
# By the name that `--help` shows for a word: the pages whose ids complete it. Other words are files.
_IDS = {
    "ID": ("cause", "symptom", "remedy", "sheet", "detector", "change", "check"),
    "REMEDY": ("remedy",),
    "CAUSE": ("cause",),
    "SKILL": ("skill",),
    "DETECTOR": ("detector",),
}
_FREE = ("TEXT", "NAME", "VALUE", "COLUMN", "TIME", "N", "K", "RATE", "SECONDS", "WORDS", "COMMAND")


def completed(command: click.Command) -> click.Command:
    """The command, and those of a group, with what all of them share."""
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            completed(subcommand)
        return command
    if not any("--quiet" in parameter.opts for parameter in command.params):
        command.params.append(_quiet_option())
    if os.environ.get(COMPLETE_VARIABLE):
        for parameter in command.params:
            if type(parameter.type).__name__ in ("StringParamType", "UnprocessedParamType"):
                parameter._custom_shell_complete = _complete
    return command


def _quiet_option() -> click.Option:
    def remember(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        ctx.meta["traindx.quiet"] = value

    return click.Option(
        ["-q", "--quiet"],
        is_flag=True,
        expose_value=False,
        callback=remember,
        help="Only the result: no progress, no notes.",
    )


def _complete(ctx: click.Context, parameter: click.Parameter, word: str) -> list[CompletionItem]:
    """Ids where ids are meant, nothing where the words are free, else files."""
    del ctx
    name = str(parameter.metavar or parameter.name or "").upper()
    first = name.replace(".", " ").replace("=", " ").replace("|", " ").split()[0]
    if first in _IDS:
        return [CompletionItem(id) for id in _ids(_IDS[first]) if id.startswith(word.replace("-", "_"))]
    if first in _FREE:
        return []
    return [CompletionItem("", type="dir" if first == "DIR" else "file")]


def _ids(kinds: tuple[str, ...]) -> list[str]:
    """Taken from the names of files and tables: a key press cannot wait for the pages themselves."""
    from traindx.knowledge.catalogue import ids_of

    names = {id for kind in kinds for id in ids_of(kind)}
    if "change" in kinds:
        from traindx.experiment.preflight.check import ids
        from traindx.experiment.runtime.change import change_specs

        names |= {*ids(), *change_specs()}
    if "skill" in kinds:
        from traindx.skills import names as skills

        names |= {*skills()}
    return sorted(names)
