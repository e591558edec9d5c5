"""Columns of a table."""

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, number, word
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors.files._facts import NEEDS, data, is_used, listed, names_value, reading, rows


@Detector("Constant or copied columns", needs=NEEDS, family="columns_useless")
def file_columns_useless(case: Case) -> Detected:
    """Columns of a data file never vary, or are copies of others.

    A sign: they add nothing, and a constant column divided by its standard deviation is a division by zero.
    """
    columns = listed(case, "data_columns")
    constant = [column for column in columns if number(column, "constant") is not None]
    copied = [column for column in columns if word(column, "copy_of")]
    if not constant and not copied:
        return None
    column = (constant or copied)[0]
    phrase, places = reading(case, word(column, "table"))
    description = (
        f"the column {word(column, 'column')} is {text(number(column, 'constant') or 0.0)} in every row"
        if constant
        else f"the column {word(column, 'column')} holds 0 values that differ from {word(column, 'copy_of')}"
    )
    further = len(constant) + len(copied) - 1
    also = f"; {further} more are constant or copies" if further else ""
    return Finding(
        f"{word(column, 'table')}: {description}{also}{phrase}.",
        numbers={"constant": len(constant), "copies": len(copied)},
        places=places,
    )


@Detector("A column gives the answer away", needs=NEEDS, family="telling_feature")
def file_column_tells_all(
    case: Case,
    *,
    score_alone: float = 0.97,
    number_alone: float = 0.99,
    error_ratio: float = 6.0,
    min_errors: float = 0.04,
    z_score: float = 5.0,
) -> Detected:
    """One column of a data file alone gives the target away, as nothing else does.

    Seen when one column predicts almost every target ({score_alone} of classes, {number_alone} of the
    variance of numbers, since a twin measurement honestly tells a little less), while all others together
    are wrong at least {error_ratio} times as often; or when the mere gaps of a column do so: it is filled in
    only for one answer.

    Silent for a second name of the class (one value for each), for columns that the script drops or does not
    name among those it uses, and where the others say nothing (the task is then that column). Known
    mistakes: a task that one honest measurement decides.
    """
    for target in listed(case, "data_targets"):
        alone, joint, z = (number(target, key) for key in ("alone", "without", "without_z"))
        if alone is None or joint is None or z is None or target.get("alone_renames"):
            continue
        if alone < (score_alone if "classes" in target else number_alone):
            continue
        lacking, gaps = 1 - joint, target.get("alone_by_gaps") is True
        if lacking < min_errors or lacking < error_ratio * (1 - alone) or (z < z_score and not gaps):
            continue
        table, column = word(target, "table"), word(target, "alone_column")
        if not is_used(case.script, column, _siblings(case, column, table)):
            continue
        phrase, places = reading(case, table)
        claim = (
            f"the column {column} is filled in for one answer and empty for the other: that alone predicts"
            if gaps
            else f"the column {column} alone predicts"
        )
        return Finding(
            f"{table}: {claim} {percent(alone)} of {word(target, 'column')}; all other columns together "
            f"{percent(joint)}: it holds the answer{phrase}.",
            symptom="silent_defect",
            severity="high" if gaps else "medium",
            numbers={"alone": alone, "without": joint, "column": column, "file": table},
            places=places,
        )
    return None


@Detector("Outliers in a data file", needs=NEEDS, family="odd_values_in_file")
def file_outliers(case: Case) -> Detected:
    """A few values of a column are far beyond all others, also on a logarithmic scale.

    A sign: a slip of the pen, a broken sensor, or a rare true value; long tails (prices, counts) are not
    meant.
    """
    columns = [column for column in listed(case, "data_columns") if number(column, "outliers")]
    if not columns:
        return None
    column = columns[0]
    table, name = word(column, "table"), word(column, "column")
    count, value, row = (number(column, key) or 0.0 for key in ("outliers", "outlier", "outlier_row"))
    low, high = (number(column, key) or 0.0 for key in ("usual_low", "usual_high"))
    phrase, places = reading(case, table)
    suffix = f"; {len(columns) - 1} more columns have some" if len(columns) > 1 else ""
    return Finding(
        f"{table}: the column {name} is between {text(low)} and {text(high)} in nearly all rows and holds "
        f"{text(value)} in row {round(row):,} ({rows(round(count))} like it{suffix}){phrase}.",
        numbers={"outlier": value, "rows": count},
        places=places,
    )


@Detector("Sentinels in a data file", needs=NEEDS, family="odd_values_in_file")
def file_sentinels(case: Case, *, min_count: int = 3, low_share: float = 0.0005) -> Detected:
    """A column of a data file holds a number that means "unknown", such as -999.

    Seen when a value of that kind (-99, -999, 9999, 65535, 1e30, ...) is repeated at least {min_count} times
    and lies further from every other value than twice their range. A model takes it for a measurement.

    Silent where the script writes the same number, since it then deals with it, and for columns that it
    drops. Known mistakes: a library that replaces the value unseen.
    """
    for column in listed(case, "data_columns"):
        value, count, total = (number(column, key) for key in ("sentinel", "sentinels", "rows"))
        if value is None or count is None or total is None or count < min_count:
            continue
        name, table = word(column, "column"), word(column, "table")
        if names_value(case.script, value) or not is_used(case.script, name, _siblings(case, name, table)):
            continue
        phrase, places = reading(case, table)
        low, high, first = (number(column, key) or 0.0 for key in ("low", "high", "first_row"))
        return Finding(
            f"{table}: the column {name} holds {text(value)} in {rows(round(count))} "
            f"({percent(count / total)}, "
            f"the first is row {round(first)}), while all other values are between {text(low)} and "
            f"{text(high)}: "
            f"it means that the value is missing{phrase}.",
            symptom="silent_defect",
            severity="medium" if count / total >= low_share else "low",
            numbers={"sentinel": value, "rows": count, "share": count / total, "column": name, "file": table},
            places=places,
        )
    return None


def _siblings(case: Case, name: str, table: str) -> list[str]:
    columns = next((f.get("columns") for f in listed(case, "data_tables") if f.get("table") == table), None)
    return [str(column) for column in columns if column != name] if isinstance(columns, list) else []


def cases() -> Cases:
    age = {"table": "a.csv", "column": "age"}
    yield from file_columns_useless.fires(
        data("data_columns", age, constant=0.0), data("data_columns", age, copy_of="age_years")
    )
    yield from file_columns_useless.silent(data("data_columns", age, missing=3, of=100), data(""))
    closed = {"table": "a.csv", "column": "label", "without_z": 30.0, "alone_column": "closed"}
    closed |= {"alone_by_gaps": False, "alone_renames": False}
    yield from file_column_tells_all.fires(
        data("data_targets", closed, alone=0.996, without=0.88, alone_by_gaps=True),
        data("data_targets", closed, alone=0.998, without=0.8),
    )
    yield from file_column_tells_all.silent(
        data("data_targets", closed, alone=0.92, without=0.85),
        data("data_targets", closed, alone=0.99, without=0.97),
        data("data_targets", closed, alone=1.0, without=0.7, alone_renames=True),
    )
    slip = {**age, "outlier": 41_000.0, "outlier_row": 17, "usual_low": 18.0, "usual_high": 80.0}
    yield from file_outliers.fires(data("data_columns", slip, outliers=2))
    yield from file_outliers.silent(data("data_columns", age, missing=2, of=90), data(""))
    humid = {
        "table": "a.csv",
        "column": "humidity",
        "rows": 2400,
        "first_row": 21,
        "low": 25.0,
        "high": 101.0,
    }
    yield from file_sentinels.fires(data("data_columns", humid, sentinel=-999.0, sentinels=140))
    yield from file_sentinels.silent(
        data("data_columns", humid, sentinel=-999.0, sentinels=2), data("data_columns", humid, missing=20)
    )
