"""Remedies with this run's own numbers filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

from traindx.core.nouns import Fix, Scalar
from traindx.core.number_text import short
from traindx.knowledge.catalogue import Remedy
from traindx.knowledge.run_numbers import number


def fixes(remedies: Iterable[Remedy], texts: Mapping[str, str]) -> tuple[Fix, ...]:
    """One fix per remedy, in the page's order; what is done already is left out.

    Each sentence starts from what the fixes before it leave: no second one undoes the first. Trials start
    from the run as it was.
    """
    filled: list[Fix] = []
    current = dict(texts)
    for remedy in remedies:
        if any(holds(condition, texts) for condition in remedy.unless) or not all(
            holds(condition, texts) for condition in remedy.only
        ):
            continue
        settings = _settings(remedy, texts)
        filled.append(Fix(remedy.id, _say(remedy, current), settings, trials=_trials(remedy, texts)))
        if "optimizer" not in settings:  # another optimizer has a learning rate of its own
            current |= {
                name: short(value) for name, value in settings.items() if isinstance(value, int | float)
            }
    return tuple(filled)


def holds(condition: str, texts: Mapping[str, str]) -> bool:
    """`lr_zero`, `warmup > 0`, `clip <= clip_new`, `precision has bf16`, `finding:ID`, `symptom:ID`; nothing
    holds of what is unknown.
    """
    name, *comparison = condition.split()
    if not comparison:
        return name in texts
    relation, operand = comparison
    if relation == "has":
        return operand in texts.get(name, "").lower()
    value, limit = (number(texts.get(word, word)) for word in (name, operand))
    if value is None or limit is None:
        return False
    return value > limit if relation == ">" else 0 < value <= limit


def placeholders(template: str) -> set[str]:
    """The names a template asks for."""
    return {name for _, name, _, _ in Formatter().parse(template) if name}


def _say(remedy: Remedy, texts: Mapping[str, str]) -> str:
    """The most specific line of the remedy for which every number is known."""
    for line in remedy.do:
        if placeholders(line) <= texts.keys():
            return line.replace("step {", f"{texts.get('axis', 'step')} {{").format_map(texts)
    return remedy.title


def _trials(remedy: Remedy, texts: Mapping[str, str]) -> tuple[str, ...]:
    """The changes of which every number is known, each once."""
    plain = {name: text.replace(",", "") for name, text in texts.items()}
    able = (template for template in remedy.trials if placeholders(template) <= plain.keys())
    return tuple(dict.fromkeys(template.format_map(plain) for template in able))


def _settings(remedy: Remedy, texts: Mapping[str, str]) -> dict[str, Scalar]:
    """Setting -> new value, for those whose value is known."""
    values: dict[str, Scalar] = {}
    for setting, template in remedy.set.items():
        if placeholders(template) <= texts.keys():
            text = template.format_map(texts)
            value = number(text)
            values[setting] = text if value is None else int(value) if value == int(value) else value
    return values
