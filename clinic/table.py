"""The results as people read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from .score import Score

COLUMNS = ("scripts", "first", "in three", "anywhere", "line")


def lines(scores: Sequence[Score]) -> list[str]:
    """A row per cause, the sums, and every wrong one by name with what was said instead."""
    faulty = [score for score in scores if not score.healthy]
    healthy = [score for score in scores if score.healthy]
    rows = [
        _row(cause, [s for s in faulty if s.cause == cause]) for cause in sorted({s.cause for s in faulty})
    ]
    wide = max((len(row[0]) for row in rows), default=0)
    told = [_told(("cause", *COLUMNS), wide), *(_told(row, wide) for row in rows)]
    told += ["", *_sums(faulty, healthy)]
    told += _listed("wrong", (s for s in faulty if not s.right), _instead)
    told += _listed("line not right", (s for s in faulty if s.right and s.line is False), _place)
    told += _listed("healthy, but", (s for s in healthy if not s.right), _alarms)
    return told


def _row(cause: str, scores: Sequence[Score]) -> tuple[str, ...]:
    asked = [score.line for score in scores if score.line is not None]
    return (
        cause,
        str(len(scores)),
        str(sum(score.first for score in scores)),
        str(sum(score.three for score in scores)),
        str(sum(score.anywhere for score in scores)),
        f"{sum(asked)}/{len(asked)}" if asked else "-",
    )


def _told(row: Sequence[str], wide: int) -> str:
    return row[0].ljust(wide) + "".join(cell.rjust(10) for cell in row[1:])


def _sums(faulty: Sequence[Score], healthy: Sequence[Score]) -> list[str]:
    asked = [score.line for score in faulty if score.line is not None]
    return [
        _share("right cause first", sum(s.first for s in faulty), len(faulty)),
        _share("right cause in the first three", sum(s.three for s in faulty), len(faulty)),
        _share("right cause first of any problem", sum(s.anywhere for s in faulty), len(faulty)),
        _share("right line", sum(asked), len(asked)),
        _share("healthy ones left in peace", sum(s.right for s in healthy), len(healthy)),
    ]


def _share(what: str, count: int, of: int) -> str:
    return f"{what:34}{count:4} of {of:<4}" + (f"{count / of:7.1%}" if of else "")


def _listed(title: str, scores: Iterable[Score], tell: Callable[[Score], str]) -> list[str]:
    found = [f"  {score.name} [{score.cause}]: {tell(score)}" for score in scores]
    return ["", f"{title}:", *found] if found else []


def _instead(score: Score) -> str:
    said = ", ".join(score.said) or "nothing"
    rank = " (in the first three)" if score.three else " (first of another problem)" if score.anywhere else ""
    return f"{score.fault}; said {said}" if score.fault else f"said {said}{rank}"


def _place(score: Score) -> str:
    return f"said {score.place or 'no place'}"


def _alarms(score: Score) -> str:
    return "; ".join(filter(None, (score.fault, *score.alarms)))
