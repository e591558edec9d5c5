"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from traindx.cli import Failure
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.settings import Threshold

map_option: Callable[[Any], Any] = click.option(
    "--map",
    "maps",
    metavar="NAME=COLUMN",
    multiple=True,
    help="Read the log's COLUMN as NAME, for example --map loss=my_objective. Repeatable.",
)

set_option: Callable[[Any], Any] = click.option(
    "--set",
    "sets",
    metavar="DETECTOR.THRESHOLD=VALUE",
    multiple=True,
    help="Use another threshold, for example --set loss_spikes.spike_ratio=3. Repeatable.",
)


def mapping(maps: tuple[str, ...]) -> dict[str, str]:
    """Canonical name -> column: `--map` options over the table `map` of the settings file."""
    from traindx.core.names import parse_overrides
    from traindx.core.settings import BadSettings, load

    try:
        given = parse_overrides(maps)
    except ValueError as error:
        raise click.UsageError(str(error)) from None
    try:
        return {**load().map, **given}
    except BadSettings as error:
        raise Failure(visible(str(error), 400)) from None


def thresholds(sets: tuple[str, ...]) -> dict[str, dict[str, Threshold]]:
    """Detector -> threshold -> value: `--set` options over the table `thresholds` of the settings file."""
    from traindx.core.settings import BadSettings, load

    given = _given(sets)
    try:
        settings = load()
    except BadSettings as error:
        raise Failure(visible(str(error), 400)) from None
    merged = _checked(settings.thresholds, f"{settings.path}: thresholds")
    for detector, values in _checked(given, "--set").items():
        merged.setdefault(detector, {}).update(values)
    return merged


def _given(sets: tuple[str, ...]) -> dict[str, dict[str, Threshold]]:
    given: dict[str, dict[str, Threshold]] = {}
    for text in sets:
        name, equals, value = text.partition("=")
        detector, dot, threshold = name.strip().partition(".")
        if not (equals and dot and detector and threshold and value.strip()):
            shape = "DETECTOR.THRESHOLD=VALUE, like loss_spikes.spike_ratio=3"
            raise click.UsageError(f"--set takes {shape}; got {visible(text, 80)!r}.")
        given.setdefault(detector, {})[threshold] = _value(value.strip())
    return given


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


def _checked(overrides: Mapping[str, Mapping[str, Threshold]], where: str) -> dict[str, dict[str, Threshold]]:
    """Overrides under the names of today; one line on the first that fits no detector."""
    if not overrides:
        return {}
    from traindx.cli import say
    from traindx.engine import named_today

    found, renamed, errors = named_today(overrides)
    for line in renamed:
        say(f"{where}: {line}")
    if errors:
        more = f" (and {len(errors) - 1} more like it)" if len(errors) > 1 else ""
        raise Failure(f"{visible(where)}: {visible(errors[0], 300)}{more}.")
    return found
