"""What a sweep shows, in sentences under headings."""

from __future__ import annotations

from traindx.comparison.compare import Comparison
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
        ("lr", [rate_words(rates) for rates in swept.rates]),
        ("scaling", [scaling_words(swept.scaling)] if swept.scaling else []),
    ]
    sections += [(key, _choice_words(compared, key)) for key, _ in swept.choices]
    sections.append(("descent", [f"{capitalised(descent.text)}." for descent in swept.descents]))
    return [(head, lines) for head, lines in sections if lines]


def _together(compared: Comparison, swept: Sweep) -> list[str]:
    """Combinations, then pairs that interact in another way."""
    sentences = []
    for combined in swept.combinations:
        sentences += combination_words(combined, compared.chosen.name)
    combined_settings = [set(combined.settings) for combined in swept.combinations]
    return sentences + [
        f"{pair.settings[0]} and {pair.settings[1]} act together: knowing both explains "
        f"{_percent(pair.share)} more of the order than their separate effects; "
        "choose one for each value of the other."
        for pair in swept.interactions
        if set(pair.settings) not in combined_settings
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


def rate_words(rates: RateRange) -> str:
    """`good 0.003 to 0.01, too low up to 0.001, too high from 0.03`."""
    where = f"{rates.condition}: " if rates.condition else ""
    low, high = rates.good
    good = short(low) if low == high else f"{short(low)} to {short(high)}"
    parts = [f"good {good} (best {short(rates.best)})"]
    if rates.too_low:
        parts.append(f"too low up to {short(rates.too_low[1])}")
    if rates.too_high:
        failed = sum(level[3] for level in rates.levels if level[0] >= rates.too_high[0])
        runs = sum(level[2] for level in rates.levels if level[0] >= rates.too_high[0])
        broke = f" ({failed} of {runs} runs failed)" if failed else ""
        parts.append(f"too high from {short(rates.too_high[0])}{broke}")
    edge = {
        "lowest": "the lowest rate tried is still good",
        "highest": "the highest rate tried is still good",
        "both": "every rate tried is about as good",
    }.get(rates.edge)
    return f"{where}{', '.join(parts)}{f'; {edge}' if edge else ''}."


def scaling_words(scaling: LrScaling) -> str:
    points = ", ".join(f"{batch:g}: {short(rate)}" for batch, rate in scaling.points)
    return (
        f"best rate by batch size {points}; it grows with the power {scaling.power:.2f} of the batch "
        f"({scaling.low:.2f} to {scaling.high:.2f} by the spacing of the rates): {scaling.verdict}."
    )


def _choice_words(compared: Comparison, key: str) -> list[str]:
    """Each value at its own best, which is fairer than all under one learning rate."""
    swept = compared.sweep
    if swept is None:
        return []
    choices = next((values for name, values in swept.choices if name == key), ())
    sentences = []
    for choice in choices:
        where = compared.configurations[choice.configuration].name
        if choice.behind is None:
            sentences.append(f"{choice.value} at its best: {short(choice.final)} ({where}).")
            continue
        sure = "" if choice.behind.sure else ", not clearly worse"
        distance = interval_text(choice.behind)
        sentences.append(f"{choice.value} at its best: {short(choice.final)} ({where}); {distance}{sure}.")
    return sentences


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
