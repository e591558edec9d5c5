"""A value changed where it comes from: a literal, an option's default, the command line, a configuration."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator

from traindx.experiment.edit import configs
from traindx.experiment.edit.job import Job, call_of
from traindx.experiment.edit.lightning_cli import set_in_cli
from traindx.experiment.edit.namesakes import namesake
from traindx.experiment.edit.new_number import NewNumber
from traindx.experiment.edit.nodes import argument_node
from traindx.experiment.edit.options import given_value, option_of, with_value
from traindx.experiment.edit.result import Uncertain
from traindx.source.execution import CallEvent
from traindx.source.values import Const, Made, Spot, Unknown, Value, number, options, parents

_LOGGING = frozenset(
    """
    print format info debug warning log init add_argument parse_args update append str repr float int join
    write dump dumps add_scalar add_hparams log_params config asdict vars Namespace SimpleNamespace dict field
    set_postfix get round set_description option replace
    """.split()
)


def change(
    job: Job,
    made: Made,
    name: str,
    position: int,
    new_number: NewNumber,
    like: str,
    default: float | None = None,
    in_loops: str = "",
) -> str:
    """Change an argument of a call where its value comes from; a description of the edit.

    `like` are the names (a pattern) under which the same number may be used elsewhere and still mean this,
    `in_loops` those that do so inside a loop.
    """
    in_cli = set_in_cli(job, name, new_number)
    if in_cli:
        return in_cli.rstrip(".")
    call = call_of(made)
    value = made.argument(position, name)
    expression = argument_node(call, name, position)
    if value is None:
        if made.open:
            description = _by_name(job, name, new_number)
            if description:
                return description
            raise Uncertain(f"Set {name} in line {call.lineno}, where the arguments are unpacked.", made.spot)
        if new_number.factor is not None and default is None:
            raise Uncertain(f"Give {name} in line {call.lineno}: it is not set there.", made.spot)
        if new_number.factor is None and new_number.value == default:
            raise Uncertain(f"{name} is {default:g} already: nothing sets it.", made.spot)
        text = new_number.literal(default if default is not None else 0.0)
        job.draft.keyword(call, name, text)
        return f"{name}={text} in {_place_text(made.spot)}"
    for alternative in _alternatives(job, name, value):
        description = (
            _on_command_line(job, name, alternative, new_number)
            or _in_config(job, name, alternative, new_number)
            or _at_literal(job, made, name, alternative, new_number, (like, in_loops))
            or ("" if _computed(alternative) else _by_name(job, name, new_number))
        )
        if description:
            return description
    return _at_call(job, made, name, expression, new_number)


def _alternatives(job: Job, name: str, value: Value) -> list[Value]:
    """What a value may be; of several numbers the one that was recorded."""
    values = options(value)
    if len(values) == 1:
        return values
    recorded = job.recorded(name)
    return [option for option in values if number(option) is not None and number(option) in recorded][:1]


def _on_command_line(job: Job, name: str, value: Value, new_number: NewNumber) -> str:
    option = option_of(value)
    if option is None:
        return ""
    value_at = given_value(job.draft.args or job.args, option)
    if value_at is not None:
        index, text = value_at
        if (name, index) in job.settled:
            return job.settled[name, index]
        try:
            new = new_number.literal(float(text), text)
        except ValueError:
            return ""
        job.draft.args = with_value(job.draft.args or job.args, index, new)
        words = f"{name} {text} -> {new} on the command line ({option.flags[-1]})"
        return job.settled.setdefault((name, index), words)
    if option.default is None or isinstance(value, Const):
        return ""
    constant = getattr(option.default.node, "value", None)
    if not isinstance(constant, int | float) or isinstance(constant, bool):
        return ""
    words = rewritten(job, name, option.default.node, new_number, constant)
    return f"{words} in {_place_text(option.default)}, the default of {option.flags[-1]}"


def rewritten(job: Job, name: str, node: ast.AST, new_number: NewNumber, old: float | None) -> str:
    """Replace a value where it is written: `lr 0.1 -> 0.01`; `old` is the number that a literal is."""
    text = job.draft.text(node)
    if old is None and isinstance(node, ast.expr):
        new = new_number.expression(node, text)
    else:
        new = new_number.literal(float(old or 0.0), text)
    job.draft.replace(node, new)
    return f"{name} {text} -> {new}"


def in_group(job: Job, name: str, value: Value, new_number: NewNumber) -> str:
    """A setting of a group of parameters."""
    spot = value.spot
    if spot is None or not isinstance(spot.node, ast.expr):
        raise Uncertain(f"A group of the optimizer has a computed {name}: change it by hand.", spot)
    old = number(value) if isinstance(spot.node, ast.Constant) else None
    return f"{rewritten(job, name, spot.node, new_number, old)} in line {spot.line}"


def _by_name(job: Job, name: str, new_number: NewNumber) -> str:
    """The one number that has this name, and the value that was recorded."""
    origin = namesake(job, name)
    if isinstance(origin, tuple):
        return _set_in_file(job, name, *origin, new_number)
    if origin is None or origin.spot is None:
        return ""
    words = rewritten(job, name, origin.spot.node, new_number, number(origin) or 0.0)
    return f"{words} in {_place_text(origin.spot)}"


def _computed(value: Value) -> bool:
    """Whether a value is more than an attribute or an item of something."""
    return not isinstance(value, Unknown | Made) or (
        isinstance(value, Made) and value.kind not in ("attribute", "item")
    )


def _in_config(job: Job, name: str, value: Value, new_number: NewNumber) -> str:
    setting = configs.setting_of(job, value)
    return _set_in_file(job, name, *setting, new_number) if setting is not None else ""


def _set_in_file(job: Job, name: str, path: str, keys: tuple[str | int, ...], new_number: NewNumber) -> str:
    if (name, path, keys) in job.settled:
        return job.settled[name, path, keys]
    try:
        text = job.config(path)
        old = configs.looked_up(configs.parsed(path, text), keys)
        old = float(old)
    except (OSError, ValueError, LookupError, TypeError):
        return ""
    if _contradicted(job, name, old):
        return ""
    new = configs.yaml_number(new_number.literal(old))
    changed = configs.with_setting(path, text, keys, new)
    if changed is None:
        return ""
    job.draft.config(path, text, changed)
    words = f"{name} {old:g} -> {new} in {os.path.basename(path)} ({'.'.join(map(str, keys))})"
    return job.settled.setdefault((name, path, keys), words)


def _at_literal(
    job: Job, made: Made, name: str, value: Value, new_number: NewNumber, like: tuple[str, str]
) -> str:
    spot = value.spot
    old = number(value)
    if old is None or spot is None or not _is_literal(spot.node) or _contradicted(job, name, old):
        return ""
    other_uses = strangers(job, spot, *like)
    if other_uses:
        return ""
    text = job.draft.text(spot.node)
    new = new_number.literal(old, text)
    if new == text:
        raise Uncertain(f"{name} is {text} already in {_place_text(spot)}.", spot)
    job.draft.replace(spot.node, new)
    shared = sorted(
        {event.spot.line for event, _ in uses(job, spot) if event.value is not made and _counts(event)}
    )
    also = f" (also used in line {', '.join(map(str, shared[:3]))})" if shared else ""
    return f"{name} {text} -> {new} in {_place_text(spot)}{also}"


def _at_call(job: Job, made: Made, name: str, expression: ast.expr | None, new_number: NewNumber) -> str:
    call = call_of(made)
    if expression is None:
        raise Uncertain(f"Change {name} where the arguments of line {call.lineno} are made.", made.spot)
    text = job.draft.text(expression)
    if isinstance(expression, ast.Constant | ast.UnaryOp) and isinstance(
        getattr(expression, "value", None), int | float
    ):
        new = new_number.literal(float(ast.literal_eval(expression)), text)
    else:
        new = new_number.expression(expression, text)
    if new_number.factor is not None and re.search(rf"\* {re.escape(new.rpartition('* ')[2])}$", text):
        raise Uncertain(f"{name} is scaled already in line {call.lineno}.", made.spot)
    if new == text:
        raise Uncertain(f"{name} is {text} already in line {call.lineno}.", made.spot)
    job.draft.replace(expression, new)
    return f"{name}={text} -> {name}={new} in {_place_text(made.spot)}"


def _contradicted(job: Job, name: str, value: float) -> bool:
    """Whether the recording shows another number, and no schedule that would explain it."""
    recorded = job.recorded(name)
    if not recorded or job.training.scheduler_steps:
        return False
    return not any(
        abs(value - recorded_value) <= 1e-6 * max(abs(recorded_value), 1e-12) for recorded_value in recorded
    )


def _is_literal(node: ast.AST) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    return isinstance(node, ast.Constant)


def uses(job: Job, spot: Spot) -> Iterator[tuple[CallEvent, str]]:
    """The calls that a literal is passed to, alone or in a sum or product, and under which name."""
    for event in job.training.trace.events:
        call = event.value
        for name, value in [*((str(n), v) for n, v in enumerate(call.args)), *call.keywords.items()]:
            if _holds(value, spot):
                yield event, name


def _holds(value: Value, spot: Spot, depth: int = 4) -> bool:
    if isinstance(value, Const):
        return value.spot is not None and value.spot.node is spot.node
    if (
        depth
        and isinstance(value, Made)
        and value.kind in ("operator", "call")
        and not value.short[:1].isupper()
    ):
        return any(_holds(parent, spot, depth - 1) for parent in parents(value))
    return False


def _counts(event: CallEvent) -> bool:
    return event.value.short not in _LOGGING


def strangers(job: Job, spot: Spot, like: str, in_loops: str = "") -> list[CallEvent]:
    """Uses of a literal that mean something else."""
    other_uses = []
    for event, name in uses(job, spot):
        use = f"{event.value.short}.{name}"
        fits = re.search(like, use, re.IGNORECASE)
        if not fits and in_loops and event.loops:
            fits = re.search(in_loops, use, re.IGNORECASE)
        if _counts(event) and not fits:
            other_uses.append(event)
    return other_uses


def _place_text(spot: Spot | None) -> str:
    return f"line {spot.line} of {os.path.basename(spot.source.path)}" if spot is not None else "the script"
