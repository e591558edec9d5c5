"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from traindx.cli import Failure

map_option: Callable[[Any], Any] = click.option(
    "--map",
    "maps",
    metavar="NAME=COLUMN",
    multiple=True,
    help="Read the log's COLUMN as NAME, for example --map loss=my_objective. Repeatable.",
)


def mapping(maps: tuple[str, ...]) -> dict[str, str]:
    """Canonical name -> column: `--map` options over the table `map` of the settings file."""
    from traindx.names import parse_overrides
    from traindx.settings import BadSettings, load

    try:
        given = parse_overrides(maps)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        return {**load().map, **given}
    except BadSettings as error:
        raise Failure(str(error)) from None
