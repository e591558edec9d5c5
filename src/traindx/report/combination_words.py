"""Combinations of settings, and effects in units of the metric, in sentences."""

from __future__ import annotations

import math

from traindx.comparison.combinations import Combination
from traindx.comparison.contrast import Contrast
from traindx.comparison.effects import Effect
from traindx.core.number_text import text
from traindx.report.text import rounded, short


def contrast_words(contrast: Contrast, than: str = "") -> str:
    """`0.051 lower on average, 0.7898 against 0.8405, 19 against 41 runs, no overlap`."""
    if math.isnan(contrast.difference):
        failed, other_failed = contrast.failed
        return f"{failed} of {contrast.runs} runs failed against {other_failed} of {contrast.other_runs}"
    total = contrast.runs + contrast.other_runs - sum(contrast.failed)
    overlap = f"{contrast.overlap} of {total} overlap" if contrast.overlap else "no overlap"
    failures = f", {contrast.failed[0]} against {contrast.failed[1]} failed" if any(contrast.failed) else ""
    return (
        f"{_apart(contrast)} on average{than}, {short(contrast.mean)} against {short(contrast.other_mean)}, "
        f"{contrast.runs} against {contrast.other_runs} runs{failures}, {overlap}"
    )


def combination_headline(combination: Combination) -> str:
    """The answer in one sentence."""
    alone = "; neither does anything alone" if combination.only_together else ""
    effect = "hurts" if combination.hurts else "helps"
    return (
        f"What {effect}: {' together with '.join(combination.conditions)}, "
        f"{contrast_words(combination.contrast)}{alone}."
    )


def combination_words(combination: Combination, metric: str) -> list[str]:
    """What the combination does, what each half does alone, and how sure that is."""
    first, second = combination.conditions
    means = [
        f"{short(mean)} ({runs} runs)" if mean is not None else "failed" for mean, runs in combination.alone
    ]
    neither = (
        "Neither does anything alone"
        if combination.only_together
        else "They do something without each other too"
    )
    share, extra = (f"{100 * part:.0f} %" for part in (combination.share, combination.extra))
    p = f"p {'<=' if combination.p <= 0.001 else '='} {text(combination.p)}"
    sentences = [
        f"{first} together with {second}: {contrast_words(combination.contrast)}. It explains {share} of the "
        f"variance of {metric}, {extra} beyond what all settings explain one by one (permutation {p}, "
        f"corrected for the {combination.pairs} pairs of splits tried).",
        f"{neither}: only {first} {means[0]}, only {second} {means[1]}, neither {means[2]}.",
    ]
    if combination.rivals:
        pairs = "; ".join(" with ".join(names) for names in combination.rivals[:3])
        sentences.append(f"These runs cannot tell it from other pairs that explain about as much: {pairs}.")
    return sentences


def in_units(effect: Effect) -> str:
    """The effect in units of the metric, and the effect that remains without the combinations."""
    contrast, rest = effect.contrast, effect.elsewhere
    if contrast is None or math.isnan(contrast.difference) or (rest is None and not effect.matters):
        return ""
    if rest is None:
        return f"{contrast.value} is {contrast_words(contrast, f' than {contrast.other}')}"
    remainder = f"{_apart(rest)} without the combination ({rest.runs} against {rest.other_runs} runs)"
    if effect.matters and not effect.vanishes:
        return f"{contrast.value} is {contrast_words(contrast, f' than {contrast.other}')}; {remainder}"
    if not effect.vanishes and rest.difference / (contrast.difference or 1.0) >= 0.5:
        return ""
    mine, theirs = contrast.runs - rest.runs, contrast.other_runs - rest.other_runs
    return (
        f"{contrast.value} only looks {_apart(contrast)} than {contrast.other}, and is {remainder}: "
        f"the combination has {mine} runs with {contrast.value} and {theirs} with {contrast.other}"
    )


def _apart(contrast: Contrast) -> str:
    if contrast.difference == 0:
        return "no different"
    size = rounded(abs(contrast.difference))
    return f"{size} {'lower' if contrast.difference < 0 else 'higher'}"
