"""`--map NAME=COLUMN`: which column of a run is meant, by what the log or the report calls it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from traindx.core.names.understand import understand


def parse_overrides(pairs: Iterable[str]) -> dict[str, str]:
    """`--map NAME=COLUMN` options as a table; a malformed one is a ValueError that says so."""
    table: dict[str, str] = {}
    for pair in pairs:
        name, sep, column = pair.partition("=")
        if not sep or not name.strip() or not column.strip():
            raise ValueError(f"--map takes NAME=COLUMN, for example --map loss=my_loss; got {pair!r}")
        table[name.strip()] = column.strip()
    return table


def forced_columns(overrides: Mapping[str, str], raws: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Column as written -> the name it is to get.

    `names` are those that the columns get by themselves. A column is looked up as it is written, then by its
    name; both without regard to case when nothing fits exactly.
    """
    forced: dict[str, str] = {}
    for name, column in overrides.items():
        places: list[int] = []
        for words in (raws, [r.lower() for r in raws], [s.lower() for s in names]):
            spelling = column if words is raws else column.lower()
            places = places or [at for at, word in enumerate(words) if word == spelling]
        forced[raws[places[0]] if places else column] = name
    return forced


def refers(column: str, raw: str) -> bool:
    """Whether a `--map` that says `column` can mean the column written as `raw`."""
    if column.lower() == raw.lower():
        return True
    wanted_meaning, column_meaning = understand(column), understand(raw)
    split = column_meaning.split.replace("train", "")
    split_fits = (
        not split or wanted_meaning.split == split or (wanted_meaning.split, split) == ("val", "test")
    )
    is_same = (wanted_meaning.metric, wanted_meaning.part.lower()) == (
        column_meaning.metric,
        column_meaning.part.lower(),
    )
    return is_same and split_fits
