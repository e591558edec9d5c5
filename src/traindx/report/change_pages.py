"""The pages of changes: what each changes in a running training, and with which values."""

from __future__ import annotations

from traindx.experiment.runtime.change import ChangeParameter, ChangeSpec, change_specs

_TYPES = {int: "a whole number", float: "a number", bool: "true or false", str: "a word"}


def markdown(unit: ChangeSpec, *, level: int = 1) -> str:
    """The whole page, its heading of the given level."""
    mark = "#" * level
    first, _, rest = unit.page.partition("\n\n")
    knobs = f" Knobs: {', '.join(unit.knobs)}." if unit.knobs else ""
    parts = [f"{mark} {first}", f"`{usage(unit)}`, a change.{knobs}", rest]
    values = [f"- `{name}`: {_described(unit, name, value)}" for name, value in unit.values.items()]
    if values:
        parts.append(f"{mark}# Values\n\n" + "\n".join(values))
    return "\n\n".join(parts) + "\n"


def usage(unit: ChangeSpec) -> str:
    """`clip_norm limit=...`, as it is written; values with a default are in brackets."""
    words = [
        f"{name}=..." if value.default is None else f"[{name}={_value_text(value.default)}]"
        for name, value in unit.values.items()
    ]
    return " ".join([unit.id, *words])


def page_of(id: str) -> str | None:
    """The page of a change; None when none is called so."""
    unit = change_specs().get(id)
    return markdown(unit) if unit is not None else None


def _described(unit: ChangeSpec, name: str, value: ChangeParameter) -> str:
    text = f"one of {', '.join(value.choices)}" if value.choices else _TYPES[value.kind]
    for word, bounds in (("above", unit.above), ("at least", unit.least), ("at most", unit.most)):
        if name in bounds:
            text += f", {word} {bounds[name]:g}"
    return text + ("" if value.default is None else f"; {_value_text(value.default)} if not given")


def _value_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
