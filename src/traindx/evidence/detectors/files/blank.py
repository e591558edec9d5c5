"""Rows of an array in which nothing was read."""

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, number, word
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors.files._facts import NEEDS, data, listed, reading, rows


@Detector("Rows without content", needs=NEEDS, family="odd_values_in_file", explains=("file_rows_repeated",))
def file_rows_blank(
    case: Case,
    *,
    min_rows: int = 5,
    min_share: float = 0.002,
    medium_share: float = 0.01,
    max_share: float = 0.5,
    max_one_target: float = 0.6,
) -> Detected:
    """Rows of an array (images, signals) hold one value throughout, and targets of all kinds nevertheless.

    Seen from {min_rows} rows and {min_share:%} on: what was not read was filled with zeros, and its label
    stayed. It is of medium severity from {medium_share:%} on.

    Silent where most such rows have one target ({max_one_target:%}; the class "nothing there"), where more
    than {max_share:%} of the rows are so, and where no target is known.
    """
    for fact in listed(case, "data_blank"):
        count, total, one = number(fact, "blank"), number(fact, "rows"), number(fact, "one_target")
        if count is None or not total or one is None or count < min_rows or one > max_one_target:
            continue
        share = count / total
        if not min_share <= share <= max_share:
            continue
        table, span = word(fact, "table"), fact.get("blank_rows")
        where = f", such as {span[0]:,} to {span[1]:,}" if isinstance(span, list) and len(span) == 2 else ""
        phrase, places = reading(case, table)
        value = text(number(fact, "value") or 0.0)
        return Finding(
            f"{table}: {rows(round(count))} ({percent(share)}{where}) hold nothing but {value}, with "
            f"targets of all kinds: nothing was read there{phrase}.",
            symptom="silent_defect",
            severity="medium" if share >= medium_share else "low",
            numbers={"rows": count, "share": share, "file": table},
            places=places,
        )
    return None


def cases() -> Cases:
    images = {"table": "x.npz", "rows": 1800, "value": 0.0, "blank_rows": [600, 659]}
    yield from file_rows_blank.fires(data("data_blank", images, blank=79, one_target=0.2))
    yield from file_rows_blank.silent(
        data("data_blank", images, blank=79, one_target=0.95),
        data("data_blank", images, blank=2, one_target=0.5),
        data("data_blank", images, blank=79),
    )
