"""`training_comparison.png`: groups of runs together, two by two; repeats are a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from traindx.core.nouns import Run
from traindx.report.charts import Curves
from traindx.report.side_by_side import PALETTE, SideBySide
from traindx.report.text import count, visible
from traindx.report.to_png import Picture, write_picture

_DRAWN_MOST = 60
_MISSING = {"loss": "a loss", "lr": "the learning rate (lr)", "grad_norm": "the gradient norm (grad_norm)"}


def write_comparison_plot(groups: Mapping[str, Sequence[Run]], path: Path, *, title: str = "") -> None:
    """Draw named groups of runs, `{"before": [...], "after": [...]}`, in the order given.

    A group of several runs (seeds, say) is the middle of them with a band from the lowest to the
    highest. With many groups the lines go from green (the first) to orange, without a key.
    """
    labelled = {_label(name, len(runs)): runs for name, runs in groups.items() if runs}
    plotted = dict(list(labelled.items())[:_DRAWN_MOST])
    curves = SideBySide(plotted).curves()
    panels = curves.panels if curves is not None else ()
    metrics = {panel.metric for panel in panels}
    missing = [words for name, words in _MISSING.items() if name not in metrics] or ["a further metric"]
    empty = ("\n".join(["not in these logs:", *missing]),) * (4 - len(panels))
    omitted = f"; {len(labelled) - len(plotted):,} more are not drawn" if len(labelled) > len(plotted) else ""
    foot = f"green: first, orange: last of {len(plotted):,}{omitted}"
    charts: tuple[Curves, ...] = (curves,) if curves is not None else ()
    key = "below" if len(plotted) <= len(PALETTE) else "none"
    heading = title or _heading(groups)
    picture = Picture(heading, charts, "", (3.2, 3.2), 2, 11.0, key, foot, empty)  # type: ignore[arg-type]
    write_picture(picture, path)


def _heading(groups: Mapping[str, Sequence[Run]]) -> str:
    runs = count(sum(len(runs) for runs in groups.values()), "run")
    return runs if len(groups) > 3 else f"{' / '.join(visible(name, 34) for name in groups)}: {runs}"


def _label(name: str, runs: int) -> str:
    return visible(name, 44) + (f" ({runs} runs: middle, lowest to highest)" if runs > 1 else "")
