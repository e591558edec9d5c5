"""Remedies with this run's own numbers filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

from traindx.core.nouns import Fix, Scalar
from traindx.core.number_text import short
from traindx.knowledge.catalogue import Remedy
from traindx.knowledge.run_numbers import number


def fixes(remedies: Iterable[Remedy], known: Mapping[str, str]) -> tuple[Fix, ...]:
    """One fix per remedy, in the page's order; what is done already is left out.

    Each sentence starts from what the fixes before it leave: no second one undoes the first. Trials start
    from the run as it was.
    """
    filled: list[Fix] = []
    current = dict(known)
    for remedy in remedies:
        if any(holds(condition, known) for condition in remedy.unless) or not all(
            holds(condition, known) for condition in remedy.only
        ):
            continue
        settings = _settings(remedy, known)
        filled.append(Fix(remedy.id, _say(remedy, current), settings, trials=_trials(remedy, known)))
        if "optimizer" not in settings:  # another optimizer has a learning rate of its own
            current |= {
                name: short(value) for name, value in settings.items() if isinstance(value, int | float)
            }
    return tuple(filled)


def holds(condition: str, known: Mapping[str, str]) -> bool:
    """`lr_zero`, `warmup > 0`, `clip <= clip_new`, `precision has bf16`, `finding:ID`, `symptom:ID`; nothing
    holds of what is unknown.
    """
    name, *rest = condition.split()
    if not rest:
        return name in known
    relation, wanted = rest
    if relation == "has":
        return wanted in known.get(name, "").lower()
    value, limit = (number(known.get(one, one)) for one in (name, wanted))
    if value is None or limit is None:
        return False
    return value > limit if relation == ">" else 0 < value <= limit


def placeholders(template: str) -> set[str]:
    """The names a template asks for."""
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _say(remedy: Remedy, known: Mapping[str, str]) -> str:
    """The most specific line of the remedy for which every number is known."""
    for line in remedy.do:
        if placeholders(line) <= known.keys():
            return line.replace("step {", f"{known.get('axis', 'step')} {{").format_map(known)
    return remedy.title


def _trials(remedy: Remedy, known: Mapping[str, str]) -> tuple[str, ...]:
    """The changes of which every number is known, each once."""
    plain = {name: text.replace(",", "") for name, text in known.items()}
    able = (template for template in remedy.trials if placeholders(template) <= plain.keys())
    return tuple(dict.fromkeys(template.format_map(plain) for template in able))


def _settings(remedy: Remedy, known: Mapping[str, str]) -> dict[str, Scalar]:
    """Setting -> new value, for those whose value is known."""
    values: dict[str, Scalar] = {}
    for setting, template in remedy.set.items():
        if placeholders(template) <= known.keys():
            text = template.format_map(known)
            value = number(text)
            values[setting] = text if value is None else int(value) if value == int(value) else value
    return values
