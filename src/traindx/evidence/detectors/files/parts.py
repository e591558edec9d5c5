"""Parts of a file that do not fit each other."""

from typing import Any

from traindx.evidence.detector import Case, Cases, Detected, Detector, Fact, Finding, number, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors.files._facts import NEEDS, data, is_used, listed, reading, rows
from traindx.testing.sketch import run


@Detector(
    "A column changes its unit along the file",
    needs=NEEDS,
    family="odd_values_in_file",
    explains=("file_labels_misaligned",),
)
def file_units_change(
    case: Case,
    *,
    min_ratio: float = 1.4,
    min_shift: float = 6.0,
    min_steadiness: float = 4.0,
    min_range: float = 0.7,
) -> Detected:
    """The scale of a column changes at a row of a data file or within a stretch: another unit or source.

    Seen when both sides of a row are steady in themselves and differ sharply: in spread ({min_ratio} times
    or more) and level together, or in level alone by many times the spread, while most other columns stay as
    they are. Also seen within a few groups of rows (stations, sites, devices) of a column that names them:
    their level jumps at one place along the file or along a column of time, and stays, by {min_range} times
    the range of the values in any other group or more (1.2 times where no known conversion fits).

    Silent for columns that drift, swing or wander, for files where a third of the columns or more change at
    once (two sources put together), for groups whose levels differ from the start, for trends that all
    groups share, and for columns that the script drops. A sign only where the stretch is one group of rows (a
    device, a site) and no known conversion fits: groups may differ by nature. Known mistakes: a real change
    of what is measured; a factor on a column with a strong season in a few groups is not seen.
    """
    for change in listed(case, "data_changes"):
        if "groups" in change:
            far = abs(number(change, "jump") or 0.0) / (number(change, "usual_range") or 1.0)
            large = far >= min_range and (number(change, "steady") or 0.0) >= min_steadiness
            if large and is_used(case.script, word(change, "column"), ()):
                return _in_groups(case, change)
            continue
        ratio, shift, steady = (number(change, key) for key in ("ratio", "shift", "steady"))
        if ratio is None or shift is None or steady is None or ratio <= 0:
            continue
        name, table = word(change, "column"), word(change, "table")
        clear = max(ratio, 1 / ratio) >= min_ratio or shift >= min_shift
        if not clear or steady < min_steadiness or not is_used(case.script, name, ()):
            continue
        row, before, after = (number(change, key) or 0.0 for key in ("row", "before", "after"))
        phrase, places = reading(case, table)
        last = number(change, "last_row")
        stretch = (
            f"from row {round(row):,} on" if last is None else f"in rows {round(row):,} to {round(last):,}"
        )
        sides = ("before", "after") if last is None else ("elsewhere", "there")
        conversion, by = word(change, "conversion"), word(change, "group_column")
        likely = f"it looks like {conversion}" if conversion else "another unit or source"
        likely += f" in these groups of {by}" if by else ""
        return Finding(
            f"{table}: {stretch}, the column {name} is on another scale (median {text(before)} {sides[0]}, "
            f"{text(after)} {sides[1]}; its spread is {text(ratio)} times as large), all at once, while the "
            f"other columns stay: {likely}{phrase}.",
            symptom="silent_defect" if conversion or not by else None,
            strength=1.0 if conversion or not by else 0.2,
            numbers={
                "row": row,
                "ratio": ratio,
                "before": before,
                "after": after,
                "column": name,
                "file": table,
            },
            places=places,
        )
    return None


@Detector(
    "A column is stuck",
    needs=NEEDS,
    family="odd_values_in_file",
    explains=("file_labels_misaligned", "file_units_change"),
)
def file_column_stuck(case: Case, *, min_rows: int = 30) -> Detected:
    """A column holds one and the same value in a stretch of rows: a sensor that hangs, a join that failed.

    Seen in columns that else change from row to row, when {min_rows} rows and more in a row hold one value,
    at least ten times as many as any other repeats. What the model learns from the column elsewhere is wrong
    there; if the stretch lies in the validation data it looks like overfitting.

    Silent for columns of few values, for columns that the script drops, and where most rows hold the value.
    """
    for column in listed(case, "data_columns"):
        stuck, count = number(column, "stuck"), number(column, "stuck_rows") or 0.0
        name, table = word(column, "column"), word(column, "table")
        if stuck is None or count < min_rows or not is_used(case.script, name, ()):
            continue
        first, last = (round(number(column, key) or 0.0) for key in ("first_row", "last_row"))
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: in rows {first:,} to {last:,} the column {name} is {text(stuck)} all the time "
            f"({round(count):,} rows; elsewhere it changes after at most "
            f"{rows(round(number(column, 'usual_repeat') or 1))}): it is stuck there{phrase}.",
            symptom="silent_defect",
            severity="medium",
            numbers={"row": first, "rows": count, "column": name, "file": table},
            places=places,
        )
    return None


@Detector("Rows out of order", needs=NEEDS, family="order_in_file", explains=("file_labels_misaligned",))
def file_rows_unordered(case: Case) -> Detected:
    """A stretch of rows is not in the order of time that the rest of the file keeps.

    Seen where a column of times has even steps once it is sorted, and some rows in one stretch do not follow
    it. Windows, lags and differences by row are wrong there.

    Silent for files without such a column, and where more than a third of the rows are out of order: then
    order may mean nothing.
    """
    for column in listed(case, "data_columns"):
        count = number(column, "unordered")
        if count is None:
            continue
        table, name = word(column, "table"), word(column, "column")
        first, last = (round(number(column, key) or 0.0) for key in ("first_row", "last_row"))
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: {round(count):,} rows between {first:,} and {last:,} are not in the order of {name}, "
            f"which all others keep in even steps: windows and lags by row are wrong there{phrase}.",
            symptom="silent_defect",
            severity="medium",
            numbers={"row": first, "rows": count, "column": name, "file": table},
            places=places,
        )
    return None


def _in_groups(case: Case, change: Fact) -> Finding:
    column, table, by = (word(change, key) for key in ("column", "table", "group_column"))
    groups = [str(group) for group in change["groups"]]
    keys = ("row", "before", "after", "jump", "usual_range")
    row, before, after, jump, usual = (number(change, key) or 0.0 for key in keys)
    conversion, order = word(change, "conversion"), word(change, "order")
    names = ", ".join(groups[:8]) + (f" and {len(groups) - 8} more" if len(groups) > 8 else "")
    place = f" ({order} {word(change, 'order_value')})" if order else ""
    likely = f"it looks like {conversion}" if conversion else "another unit or source"
    phrase, places = reading(case, table)
    return Finding(
        f"{table}: in {len(groups)} of {change['groups_all']} groups of {by} ({names}), the column {column} "
        f"is on another scale from row {round(row):,}{place} on (median {text(before)} before, {text(after)} "
        f"after; a jump of {text(abs(jump))}, while the values of any other group lie within "
        f"{text(usual)}): {likely}{phrase}.",
        symptom="silent_defect",
        numbers={
            "row": row,
            "before": before,
            "after": after,
            "groups": len(groups),
            "group": groups[0],
            "group_column": by,
            "column": column,
            "file": table,
        },
        places=places,
    )


def _group_facts(jump: float, steady: float) -> dict[str, Any]:
    change = {"table": "a.csv", "column": "temp", "row": 1600, "before": 15.0, "after": 15.0 + jump}
    change |= {"group_column": "station", "groups": ["B", "K"], "groups_all": 20, "usual_range": 20.0}
    change |= {"jump": jump, "steady": steady, "order": "day", "order_value": "140", "conversion": ""}
    return {"data_files": [{"name": "a.csv"}], "data_changes": [change]}


def _facts(ratio: float, shift: float, steady: float, **fields: Any) -> dict[str, Any]:
    change: dict[str, Any] = {"table": "a.csv", "column": "temp", "row": 1600, "before": 15.0, "after": 59.0}
    change |= {"ratio": ratio, "shift": shift, "steady": steady, **fields}
    return {"data_files": [{"name": "a.csv"}], "data_changes": [change]}


def cases() -> Cases:
    stuck = {"table": "a.csv", "column": "bar", "stuck": 8.2, "first_row": 10, "last_row": 99}
    yield from file_column_stuck.fires(data("data_columns", stuck, stuck_rows=90, usual_repeat=2))
    yield from file_column_stuck.silent(data("data_columns", stuck, stuck_rows=20), data(""))
    hours = {"table": "a.csv", "column": "hour", "first_row": 10, "last_row": 99}
    yield from file_rows_unordered.fires(data("data_columns", hours, unordered=70))
    yield from file_rows_unordered.silent(data("data_columns", hours), data(""))
    yield from file_units_change.fires(run({}, facts=_facts(1.8, 3.7, 24.0)))
    yield from file_units_change.fires(run({}, facts=_facts(1.0, 20.0, 30.0)))
    sites = {"group_column": "site", "conversion": "degrees Celsius to Fahrenheit"}
    yield from file_units_change.fires(run({}, facts=_facts(1.8, 3.7, 24.0, **sites)))
    yield from file_units_change.fires(run({}, facts=_group_facts(44.0, 12.0)))
    yield from file_units_change.silent(run({}, facts=_facts(1.8, 3.7, 2.0)))
    yield from file_units_change.silent(run({}, facts=_facts(1.1, 2.0, 20.0)))
    yield from file_units_change.silent(run({}, facts=_group_facts(12.0, 12.0)))
    yield from file_units_change.silent(run({}, facts=_group_facts(44.0, 2.0)))
    yield from file_units_change.silent(run({}, facts={"data_files": [{"name": "a.csv"}]}))
