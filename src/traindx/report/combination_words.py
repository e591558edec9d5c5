"""Combinations of settings, and effects in units of the metric, in sentences."""

from __future__ import annotations

import math

from traindx.comparison.combinations import Combination
from traindx.comparison.contrast import Contrast
from traindx.comparison.effects import Effect
from traindx.core.number_text import text
from traindx.report.text import rounded, short


def contrast_words(one: Contrast, than: str = "") -> str:
    """`0.051 lower on average, 0.7898 against 0.8405, 19 against 41 runs, no overlap`."""
    if math.isnan(one.difference):
        return f"{one.failed[0]} of {one.runs} runs failed against {one.failed[1]} of {one.other_runs}"
    total = one.runs + one.other_runs - sum(one.failed)
    overlap = f"{one.overlap} of {total} overlap" if one.overlap else "no overlap"
    failed = f", {one.failed[0]} against {one.failed[1]} failed" if any(one.failed) else ""
    return (
        f"{_apart(one)} on average{than}, {short(one.mean)} against {short(one.other_mean)}, "
        f"{one.runs} against {one.other_runs} runs{failed}, {overlap}"
    )


def combination_headline(one: Combination) -> str:
    """The answer in one sentence."""
    alone = "; neither does anything alone" if one.only_together else ""
    return (
        f"What {'hurts' if one.hurts else 'helps'}: {' together with '.join(one.conditions)}, "
        f"{contrast_words(one.contrast)}{alone}."
    )


def combination_words(one: Combination, metric: str) -> list[str]:
    """What the combination does, what each half does alone, and how sure that is."""
    first, second = one.conditions
    means = [f"{short(mean)} ({runs} runs)" if mean is not None else "failed" for mean, runs in one.alone]
    neither = (
        "Neither does anything alone" if one.only_together else "They do something without each other too"
    )
    share, extra = (f"{100 * part:.0f} %" for part in (one.share, one.extra))
    p = f"p {'<=' if one.p <= 0.001 else '='} {text(one.p)}"
    sentences = [
        f"{first} together with {second}: {contrast_words(one.contrast)}. It explains {share} of the "
        f"variance of {metric}, {extra} beyond what all settings explain one by one (permutation {p}, "
        f"corrected for the {one.pairs} pairs of splits tried).",
        f"{neither}: only {first} {means[0]}, only {second} {means[1]}, neither {means[2]}.",
    ]
    if one.rivals:
        pairs = "; ".join(" with ".join(names) for names in one.rivals[:3])
        sentences.append(f"These runs cannot tell it from other pairs that explain about as much: {pairs}.")
    return sentences


def in_units(effect: Effect) -> str:
    """What the effect is in units of the metric, and what is left of it without the combinations."""
    one, rest = effect.contrast, effect.elsewhere
    if one is None or math.isnan(one.difference) or (rest is None and not effect.matters):
        return ""
    if rest is None:
        return f"{one.value} is {contrast_words(one, f' than {one.other}')}"
    left = f"{_apart(rest)} without the combination ({rest.runs} against {rest.other_runs} runs)"
    if effect.matters and not effect.vanishes:
        return f"{one.value} is {contrast_words(one, f' than {one.other}')}; {left}"
    if not effect.vanishes and rest.difference / (one.difference or 1.0) >= 0.5:
        return ""
    mine, theirs = one.runs - rest.runs, one.other_runs - rest.other_runs
    return (
        f"{one.value} only looks {_apart(one)} than {one.other}, and is {left}: the combination has {mine} "
        f"runs with {one.value} and {theirs} with {one.other}"
    )


def _apart(one: Contrast) -> str:
    if one.difference == 0:
        return "no different"
    size = rounded(abs(one.difference))
    return f"{size} {'lower' if one.difference < 0 else 'higher'}"
