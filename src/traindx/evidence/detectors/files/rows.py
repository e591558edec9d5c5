"""Rows of a table: repeated, shared, in order."""

from typing import Any

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, number, word
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors.files._facts import NEEDS, data, fits, listed, reading


@Detector("Rows repeated in a data file", needs=NEEDS, family="rows_in_two_files")
def file_rows_repeated(
    case: Case, *, min_rows: int = 4, min_share: float = 0.02, medium_share: float = 0.05
) -> Detected:
    """Rows of a data file repeat earlier ones, inputs and target alike.

    Counts rows that are hardly equal by accident: many numbers, long texts, images. Seen from {min_rows}
    rows and {min_share:%} of the file on. Copies count double in a training, and a split drawn afterwards
    puts the same row on both sides. Of low severity, since some data are repeated on purpose; of medium
    where an id says that it is the same row, from {medium_share:%} on.
    """
    for repeat in listed(case, "data_repeats"):
        total, count = number(repeat, "rows") or 1.0, number(repeat, "repeated") or 0.0
        if count < min_rows or count / total < min_share:
            continue
        table = word(repeat, "table")
        phrase, places = reading(case, table)
        pairs = repeat.get("repeated_rows")
        example = f" (row {pairs[0][1]} is row {pairs[0][0]})" if isinstance(pairs, list) and pairs else ""
        return Finding(
            f"{table}: {round(count):,} rows ({percent(count / total)}) repeat an earlier one{example}: a "
            f"split drawn from it has the same rows on both sides{phrase}.",
            symptom="silent_defect",
            severity="medium" if repeat.get("named") and count / total >= medium_share else "low",
            numbers={"share": count / total, "rows": count, "file": table},
            places=places,
        )
    return None


@Detector("Rows of one file in the other", needs=NEEDS, family="rows_in_two_files")
def file_rows_shared(
    case: Case, *, min_rows: int = 4, min_share: float = 0.01, max_near_inside: float = 0.01
) -> Detected:
    """Rows of the validation or test file are in the training file as well.

    Seen when at least {min_rows} rows and {min_share:%} of one file have the very inputs of rows in the
    other (ids and dates left out), or are all but equal to one; only rows that are hardly equal by accident
    count: long texts, many numbers, images.

    Silent for short texts and rows of few values. Only a sign where no name says which file is for
    validation.
    """
    for pair in listed(case, "data_pairs"):
        total, shared = number(pair, "rows") or 0.0, number(pair, "shared") or 0.0
        of, near = number(pair, "near_of") or 1.0, number(pair, "near") or 0.0
        if (number(pair, "near_inside") or 0.0) > max_near_inside:
            near = 0.0
        if not total or max(shared, near) < min_rows or max(shared / total, near / of) < min_share:
            continue
        first, second = word(pair, "first"), word(pair, "second")
        exact = shared / total >= near / of
        share = shared / total if exact else near / of
        words = "are in" if exact else "are all but equal to rows of"
        phrase, places = reading(case, second)
        return Finding(
            f"{percent(share)} of the rows of {second} ({round(shared if exact else near):,}) {words} {first}"
            f"{_example(pair) if exact else ''}: what is validated on was trained on{phrase}.",
            symptom="silent_defect" if fits(pair) else None,
            severity="high" if share >= 0.05 else "medium",
            numbers={"share": share, "rows": shared if exact else near},
            places=places,
        )
    return None


def _example(pair: Any) -> str:
    shared = pair.get("shared_rows")
    if not isinstance(shared, list) or not shared or not isinstance(shared[0], list) or len(shared[0]) != 2:
        return ""
    return f" (row {shared[0][1]} is row {shared[0][0]} there)"


@Detector("Ids of one file in the other", needs=NEEDS, family="rows_in_two_files")
def file_identities_shared(
    case: Case, *, min_share: float = 0.02, min_rows: int = 4, min_says: float = 0.3, single: float = 1.05
) -> Detected:
    """Rows of the validation file belong to the same ids or groups as training rows.

    A column that is called like an id or like what rows belong to (a patient, a user, a session), of at
    least twenty values, of which at least {min_share:%} of the validation rows have one that training has
    too. It is a defect where that id alone says much of the target ({min_says:%} of its variation among
    other rows of the same id): what is validated on was seen. Otherwise, and where no name says which file
    is for validation, it is worth knowing.

    Silent where both files merely number their rows. Known mistakes: a model that is meant for known users.
    """
    for pair in listed(case, "data_pairs"):
        share, count = number(pair, "id_share") or 0.0, number(pair, "id_rows") or 0.0
        if share < min_share or count < min_rows:
            continue
        agreement, group_size = number(pair, "id_says") or 0.0, number(pair, "id_group_rows") or 1.0
        first, second, name = word(pair, "first"), word(pair, "second"), word(pair, "id_column")
        harmful = fits(pair) and (agreement >= min_says or group_size <= single)
        phrase, places = reading(case, second)
        why = (
            f", and other rows of the same {name} say {percent(agreement)} of the target: they were seen"
            if agreement >= min_says
            else ": the same things are in both"
        )
        return Finding(
            f"{percent(share)} of the rows of {second} ({round(count):,}) have a {name} that {first} has "
            f"too, such as {word(pair, 'id_example')}{why}{phrase}.",
            symptom="silent_defect" if harmful else None,
            severity="high" if agreement >= min_says else "medium",
            numbers={"share": share, "rows": count, "column": name},
            places=places,
        )
    return None


@Detector("Validation between training in time", needs=NEEDS, family="rows_in_two_files")
def file_times_mixed(case: Case, *, min_inside: float = 0.5, min_alike: float = 0.5) -> Detected:
    """Validation rows lie between training rows in time, where neighbours have alike targets.

    A random split of a series: the row before and the row after of each validation row were trained on. Seen
    when {min_inside:%} of the validation rows are within the time of the training rows and the targets of a
    validation row and of the training row nearest in time agree ({min_alike} where 1 is equal and 0 is
    chance).

    Silent where the validation rows come after, and where targets do not hang together in time.
    """
    for pair in listed(case, "data_pairs"):
        inside, alike = number(pair, "time_inside"), number(pair, "time_alike")
        if inside is None or alike is None or inside < min_inside or alike < min_alike or not fits(pair):
            continue
        first, second, name = word(pair, "first"), word(pair, "second"), word(pair, "time_column")
        phrase, places = reading(case, second)
        return Finding(
            f"{percent(inside)} of the rows of {second} lie within the time of {first} (column {name}), and "
            f"targets of rows that are next to each other in time agree ({text(alike)} where 1 is equal): "
            f"the answers to validation were trained on{phrase}.",
            symptom="silent_defect",
            severity="high",
            numbers={"inside": inside, "alike": alike, "column": name},
            places=places,
        )
    return None


@Detector("A data file sorted by label", needs=NEEDS, family="sorted_by_label")
def file_sorted_by_label(case: Case, *, min_order: float = 0.9) -> Detected:
    """The rows of a data file are sorted by their label.

    A sign: harmless where the training shuffles, and a cause of swings and of validation on unseen classes
    where it takes them in order or splits off the last part.
    """
    for target in listed(case, "data_targets"):
        order = number(target, "in_order")
        if order is None or order < min_order:
            continue
        table = word(target, "table")
        phrase, places = reading(case, table)
        sentence = f"{table}: the rows are sorted by {word(target, 'column')} ({percent(order)}){phrase}."
        return Finding(sentence, numbers={"order": order}, places=places)
    return None


def cases() -> Cases:
    twice = {"table": "a.csv", "rows": 400, "repeated_rows": [[3, 90]]}
    yield from file_rows_repeated.fires(data("data_repeats", twice, repeated=60))
    yield from file_rows_repeated.silent(data("data_repeats", twice, repeated=2), data(""))
    pair = {"first": "train.csv", "second": "val.csv", "rows": 400, "splits": ["train", "val"]}
    near = {**pair, "shared": 0, "near": 60, "near_of": 400}
    yield from file_rows_shared.fires(
        data("data_pairs", pair, shared=150, shared_rows=[[762, 0]]),
        data("data_pairs", near, near_inside=0.0),
    )
    yield from file_rows_shared.silent(
        data("data_pairs", pair, shared=2),
        data("data_pairs", near, near_inside=0.2),
        data("data_pairs", pair),
    )
    ids = {**pair, "id_column": "patient_id", "id_example": "p17"}
    yield from file_identities_shared.fires(
        data("data_pairs", ids, id_share=0.9, id_rows=360, id_says=0.8, id_group_rows=6.0),
        data("data_pairs", ids, id_share=0.1, id_rows=40, id_says=0.0, id_group_rows=1.0),
    )
    yield from file_identities_shared.silent(data("data_pairs", ids, id_share=0.0, id_rows=0), data(""))
    dated = {**pair, "time_column": "date"}
    yield from file_times_mixed.fires(data("data_pairs", dated, time_inside=0.98, time_alike=0.9))
    yield from file_times_mixed.silent(
        data("data_pairs", dated, time_inside=0.0, time_alike=0.9),
        data("data_pairs", dated, time_inside=0.98, time_alike=0.1),
    )
    label = {"table": "a.csv", "column": "label"}
    yield from file_sorted_by_label.fires(data("data_targets", label, in_order=0.99))
    yield from file_sorted_by_label.silent(data("data_targets", label, in_order=0.05), data(""))
