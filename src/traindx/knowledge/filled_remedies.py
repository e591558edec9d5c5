"""Remedies with this run's own numbers filled in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import Formatter

from traindx.core.nouns import Fix, Scalar
from traindx.knowledge.catalogue import Remedy
from traindx.knowledge.run_numbers import number

# Pointless to touch while the rate is zero.
_NEED_A_RATE = frozenset({"change_schedule", "fix_schedule_pace", "switch_optimizer", "lower_lr"})


def fixes(remedies: Iterable[Remedy], known: Mapping[str, str]) -> tuple[Fix, ...]:
    """One fix per remedy, in the page's order; what is done already is left out."""
    return tuple(
        Fix(remedy.id, _say(remedy, known), _settings(remedy, known), trials=_trials(remedy, known))
        for remedy in remedies
        if not _done(remedy.id, known)
    )


def _done(remedy: str, known: Mapping[str, str]) -> bool:
    """Whether the run does already what a remedy would make it do."""
    value = {name: number(known.get(name)) or 0.0 for name in ("warmup", "warmup_ratio", "clip", "clip_new")}
    if "lr_zero" in known and remedy in _NEED_A_RATE:
        return True
    match remedy:
        case "add_warmup":
            return value["warmup"] > 0 or value["warmup_ratio"] > 0
        case "clip_gradients":
            return 0 < value["clip"] <= value["clip_new"]
        case "leave_fp16":
            precision = known.get("precision", "").lower()
            return any(word in precision for word in ("bf16", "bfloat16", "fp32", "float32", "32"))
        case "switch_optimizer":
            return "adamw" in known.get("optimizer", "").lower()
    return False


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
    """The interventions of which every number is known, each once."""
    plain = {name: text.replace(",", "") for name, text in known.items()}
    able = (template for template in remedy.trials if placeholders(template) <= plain.keys())
    return tuple(dict.fromkeys(template.format_map(plain) for template in able))


def _settings(remedy: Remedy, known: Mapping[str, str]) -> dict[str, Scalar]:
    """Setting -> new value, for those whose value is known."""
    made: dict[str, Scalar] = {}
    for setting, template in remedy.set.items():
        if placeholders(template) <= known.keys():
            text = template.format_map(known)
            value = number(text)
            made[setting] = text if value is None else int(value) if value == int(value) else value
    return made
