"""Options that several commands share."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from traindx.cli import Failure, say

if TYPE_CHECKING:
    from traindx.core.settings import Threshold

Command = TypeVar("Command", bound=Callable[..., Any])


def stacked(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    """Options as one decorator; `--help` lists them in this order."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def program_command(
    short_help: str, arguments: tuple[tuple[str, str], ...] = (), cls: type[click.Command] = click.Command
) -> Callable[[Callable[..., Any]], click.Command]:
    """A command whose last words are a program and its arguments, which are not parsed.

    `arguments` are those before the program, with their names in the usage line.
    """
    command = click.command(
        cls=cls,
        short_help=short_help,
        context_settings={"allow_interspersed_args": False},
        options_metavar="[OPTIONS]",
    )
    module = click.option("-m", "as_module", is_flag=True, help="The program is a module, as in 'python -m'.")
    before = (click.argument(name, metavar=metavar) for name, metavar in arguments)
    program = click.argument(
        "program", metavar="PROGRAM [ARGS]...", nargs=-1, type=click.UNPROCESSED, required=True
    )
    return lambda function: command(stacked(module)(stacked(*before, program)(function)))


def budget_option(default: str) -> Callable[[Any], Any]:
    return click.option(
        "--time-budget",
        metavar="TIME",
        default=default,
        show_default=True,
        help="For everything: 90s, 10m, 2h.",
    )


def json_option(schema: str) -> Callable[[Any], Any]:
    return click.option("--json", "as_json", is_flag=True, help=f"Print JSON (schema {schema}).")


jobs_option: Callable[[Any], Any] = click.option(
    "--jobs", type=click.IntRange(1, 64), metavar="N", help="Runs side by side; default: one a core."
)
map_option: Callable[[Any], Any] = click.option(
    "--map",
    "maps",
    metavar="NAME=COLUMN",
    multiple=True,
    help="Read the log's COLUMN as NAME, for example --map loss=my_objective. Repeatable.",
)


def _use_thresholds(ctx: click.Context, _: click.Parameter, sets: tuple[str, ...]) -> None:
    """Thresholds of the settings file and of `--set` count for all this command does."""
    if ctx.resilient_parsing:
        return
    from traindx.core.settings import BadSettings
    from traindx.engine import checked_thresholds, project_thresholds, using_thresholds
    from traindx.report.text import visible

    with warnings.catch_warnings(record=True) as renamed:
        warnings.simplefilter("always", FutureWarning)
        try:
            merged = {detector: dict(values) for detector, values in project_thresholds().items()}
        except BadSettings as error:
            raise Failure(f"{visible(str(error), 400).rstrip('.')}.") from None
        try:
            overrides = checked_thresholds(_overrides(sets))
        except ValueError as error:
            raise Failure(f"--set: {visible(str(error), 300)}.") from None
    for line in renamed:
        say(f"Warning: {visible(str(line.message), 300)}")
    for detector, values in overrides.items():
        merged.setdefault(detector, {}).update(values)
    ctx.with_resource(using_thresholds(merged))


set_option: Callable[[Any], Any] = click.option(
    "--set",
    metavar="DETECTOR.THRESHOLD=VALUE",
    multiple=True,
    expose_value=False,
    callback=_use_thresholds,
    help="Use another threshold, for example --set loss_spikes.spike_ratio=3. Repeatable.",
)


def mapping(maps: tuple[str, ...]) -> dict[str, str]:
    """Canonical name -> column: `--map` options over the table `map` of the settings file."""
    from traindx.core.names import parse_overrides
    from traindx.core.settings import BadSettings, load
    from traindx.report.text import visible

    try:
        columns = parse_overrides(maps)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        return {**load().map, **columns}
    except BadSettings as error:
        raise Failure(visible(str(error), 400)) from None


def _overrides(sets: tuple[str, ...]) -> dict[str, dict[str, Threshold]]:
    from traindx.report.text import visible

    overrides: dict[str, dict[str, Threshold]] = {}
    for text in sets:
        name, equals, value = text.partition("=")
        detector, dot, threshold = name.strip().partition(".")
        if not (equals and dot and detector and threshold and value.strip()):
            shape = "DETECTOR.THRESHOLD=VALUE, like loss_spikes.spike_ratio=3"
            raise click.UsageError(f"--set takes {shape}; got {visible(text, 80)!r}.")
        overrides.setdefault(detector, {})[threshold] = _value(value.strip())
    return overrides


def _value(text: str) -> Threshold:
    """A number, true or false, or else the text itself."""
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
