"""What a sweep shows, in sentences under headings."""

from __future__ import annotations

from traindx.comparison import Comparison
from traindx.comparison.effects import Effect
from traindx.comparison.rates import LrScaling, RateRange
from traindx.comparison.sweep import Sweep
from traindx.report.combination_words import combination_words, in_units
from traindx.report.comparison_words import interval_text
from traindx.report.text import capitalised, short

_EFFECTS_MOST = 10


def sweep_sections(compared: Comparison) -> list[tuple[str, list[str]]]:
    """Headings with their sentences; empty where there is no sweep."""
    swept = compared.sweep
    if swept is None:
        return []
    matters = ("matters", [effect_words(effect) for effect in swept.effects[:_EFFECTS_MOST]])
    together = ("together", _together(compared, swept))
    sections = [
        *((together, matters) if swept.combinations else (matters, together)),
        ("lr", [rate_words(one) for one in swept.rates]),
        ("scaling", [scaling_words(swept.scaling)] if swept.scaling else []),
    ]
    sections += [(key, _choice_words(compared, key)) for key, _ in swept.choices]
    sections.append(("descent", [f"{capitalised(one.text)}." for one in swept.descents]))
    return [(head, lines) for head, lines in sections if lines]


def _together(compared: Comparison, swept: Sweep) -> list[str]:
    """Combinations, then pairs that interact in another way."""
    sentences = []
    for combined in swept.combinations:
        sentences += combination_words(combined, compared.chosen.name)
    known = [set(combined.settings) for combined in swept.combinations]
    return sentences + [
        f"{one.settings[0]} and {one.settings[1]} act together: knowing both explains {_percent(one.share)} "
        "more of the order than their separate effects; choose one for each value of the other."
        for one in swept.interactions
        if set(one.settings) not in known
    ]


def effect_words(effect: Effect) -> str:
    """`lr explains 61 % of the order (48 to 72 %): best 0.01, worst 1`."""
    interval = f"95 % interval {_percent(effect.low)} to {_percent(effect.high)}"
    share = f"{_percent(effect.share)} of the order ({interval})"
    units = f"; {words}" if (words := in_units(effect)) else ""
    if effect.vanishes:
        return (
            f"{effect.setting}: vanishes once the combination is accounted for (confounded); alone it seemed "
            f"to explain {share}{units}."
        )
    if not effect.matters:
        return f"{effect.setting}: no effect seen beyond chance; {share}{units}."
    best, worst = effect.places[0], effect.places[-1]
    return (
        f"{effect.setting} explains {share}: best {best[0]} (mean place {_percent(best[1])} from the top, "
        f"{best[2]} runs), worst {worst[0]} ({_percent(worst[1])}){units}."
    )


def rate_words(one: RateRange) -> str:
    """`good 0.003 to 0.01, too low up to 0.001, too high from 0.03`."""
    where = f"{one.condition}: " if one.condition else ""
    low, high = one.good
    good = short(low) if low == high else f"{short(low)} to {short(high)}"
    parts = [f"good {good} (best {short(one.best)})"]
    if one.too_low:
        parts.append(f"too low up to {short(one.too_low[1])}")
    if one.too_high:
        failed = sum(level[3] for level in one.levels if level[0] >= one.too_high[0])
        runs = sum(level[2] for level in one.levels if level[0] >= one.too_high[0])
        broke = f" ({failed} of {runs} runs failed)" if failed else ""
        parts.append(f"too high from {short(one.too_high[0])}{broke}")
    edge = {
        "lowest": "the lowest rate tried is still good",
        "highest": "the highest rate tried is still good",
        "both": "every rate tried is about as good",
    }.get(one.edge)
    return f"{where}{', '.join(parts)}{f'; {edge}' if edge else ''}."


def scaling_words(one: LrScaling) -> str:
    points = ", ".join(f"{batch:g}: {short(rate)}" for batch, rate in one.points)
    return (
        f"best rate by batch size {points}; it grows with the power {one.power:.2f} of the batch "
        f"({one.low:.2f} to {one.high:.2f} by the spacing of the rates): {one.verdict}."
    )


def _choice_words(compared: Comparison, key: str) -> list[str]:
    """Each value at its own best, which is fairer than all under one learning rate."""
    swept = compared.sweep
    if swept is None:
        return []
    choices = next((values for name, values in swept.choices if name == key), ())
    sentences = []
    for one in choices:
        where = compared.configurations[one.configuration].name
        if one.behind is None:
            sentences.append(f"{one.value} at its best: {short(one.final)} ({where}).")
            continue
        sure = "" if one.behind.sure else ", not clearly worse"
        sentences.append(
            f"{one.value} at its best: {short(one.final)} ({where}); {interval_text(one.behind)}{sure}."
        )
    return sentences


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
