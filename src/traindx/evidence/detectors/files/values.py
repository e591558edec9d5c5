"""Values that are missing, wrong or unreadable."""

import ast

from traindx.evidence.detector import (
    Case,
    Cases,
    Detected,
    Detector,
    Fact,
    Finding,
    number,
    word,
    words,
)
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, data, listed, reading, suspects

_HANDLING = ("fillna", "dropna", "isnan", "isfinite", "nan_to_num", "nanmean", "isna", "notna", "interpolate")


@Detector("Missing values in a data file", needs=NEEDS, family="odd_values_in_file")
def file_values_missing(case: Case, *, min_odd: int = 5) -> Detected:
    """Columns of a data file lack values, or hold cells that are no numbers.

    Seen when a column of numbers has empty cells, NaN or Inf, or cells of other text. A sign: most scripts
    fill or drop them, and one that does not gives NaN.

    Rows that lack a column as one block are a defect: a join or a part of a file failed. At least {min_odd}
    cells of other text are worth knowing. A target that is missing is a defect where the script has no word
    for filling or dropping.
    """
    columns = [c for c in listed(case, "data_columns") if number(c, "missing") or number(c, "odd_cells")]
    if not columns:
        return None
    worst = max(columns, key=lambda c: (number(c, "missing") or 0.0) / (number(c, "of") or 1.0))
    table, name = word(worst, "table"), word(worst, "column")
    missing, total = number(worst, "missing") or 0.0, number(worst, "of") or 1.0
    targets = {(word(target, "table"), word(target, "column")) for target in listed(case, "data_targets")}
    bad = next((c for c in columns if (c.get("table"), c.get("column")) in targets), None)
    phrase, places = reading(case, table)
    suffix = f", {len(columns)} columns in all" if len(columns) > 1 else ""
    if missing:
        first = round(number(worst, "first_row") or 0.0)
        gap = f"the column {name} lacks {percent(missing / total)} of its values, the first in row {first}"
    else:
        odd = round(number(worst, "odd_cells") or 0.0)
        gap = f"the column {name} holds {odd} cells that are no numbers, such as '{word(worst, 'odd_cell')}'"
    defect = bad is not None and case.script is not None and not _handled(case)
    if defect and bad is not None:
        gap = f"the target {word(bad, 'column')} lacks {round(number(bad, 'missing') or 0.0)} values"
    block = next((c for c in columns if c.get("missing_block")), None)
    if block is not None and not defect:
        first_row, last_row = block["missing_block"]
        gap = f"rows {first_row} to {last_row} lack {word(block, 'column')} as one block"
    odd = any((number(c, "odd_cells") or 0.0) >= min_odd for c in columns)
    return Finding(
        f"{table}: {gap}{suffix}{phrase}.",
        symptom="silent_defect" if defect or block is not None or odd else None,
        severity="medium" if defect or block is not None else "low",
        numbers={"share": missing / total, "columns": len(columns)},
        places=places,
    )


def _handled(case: Case) -> bool:
    script = case.script
    if script is None:
        return False
    return any(
        isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in _HANDLING
        for source in script.sources
        for node in ast.walk(source.tree)
    )


@Detector("Wrong target numbers in a data file", needs=NEEDS, family="labels_in_file")
def file_numbers_wrong(
    case: Case,
    *,
    min_share: float = 0.015,
    medium_share: float = 0.04,
    min_clear: float = 0.5,
    max_between: float = 0.7,
) -> Detected:
    """Target numbers of a data file are far from what all other rows say of their inputs.

    A small model of traindx's own predicts each row's number from all other rows. Seen when it explains most
    of the target ({min_clear:%}), and at least {min_share:%} of the rows are more than six usual errors away
    from it and away from the nearest rows too, with few rows in between: an error of its own, not the tail
    of a noise.

    The most suspicious rows are listed. Silent for noise with long tails and where inputs say little.
    """
    for target in listed(case, "data_targets"):
        far, between, clear = (number(target, key) for key in ("far", "far_between", "far_clear"))
        rows = number(target, "measured") or 1.0
        if far is None or between is None or clear is None or clear < min_clear or far / rows < min_share:
            continue
        if between > max_between * far:
            continue
        table = word(target, "table")
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: {percent(far / rows)} of the values of {word(target, 'column')} ({round(far):,}) are "
            f"far from what all other rows say of them, first {suspects(target)}{phrase}.",
            symptom="silent_defect",
            severity="medium" if far / rows >= medium_share else "low",
            numbers={"noise": far / rows, "suspects": far, "file": table},
            places=places,
        )
    return None


@Detector("Slipped decimal points in a data file", needs=NEEDS, family="labels_in_file")
def file_numbers_slipped(
    case: Case,
    *,
    min_rows: int = 5,
    min_share: float = 0.7,
    medium_share: float = 0.002,
    min_clear: float = 0.5,
) -> Detected:
    """Some target numbers are ten, a hundred or a thousand times what all other rows say of their inputs.

    Seen when a small model of traindx's own explains most of the target ({min_clear:%}), at least {min_rows}
    rows are many usual errors away from it, and {min_share:%} of those are off by the same power of ten: a
    slip of the decimal point, or another unit in single rows. It is of medium severity from
    {medium_share:%} of the rows on.

    Silent for noise with long tails, which is off by any factor, and for targets that are 0 or negative.
    """
    for target in listed(case, "data_targets"):
        far, slipped, slip, clear = (number(target, key) for key in ("far", "slipped", "slip", "far_clear"))
        rows = number(target, "measured") or 1.0
        if not far or not slip or slipped is None or clear is None or clear < min_clear:
            continue
        if slipped < min_rows or slipped < min_share * far:
            continue
        table = word(target, "table")
        phrase, places = reading(case, table)
        times = f"{slip:g} times" if slip > 1 else f"a {1 / slip:g}th of"
        return Finding(
            f"{table}: {round(slipped):,} values of {word(target, 'column')} are {times} what all other rows "
            f"say of them, first {suspects(target)}: their decimal point slipped, or they are in another "
            f"unit{phrase}.",
            symptom="silent_defect",
            severity="medium" if slipped / rows >= medium_share else "low",
            numbers={"rows": slipped, "factor": slip, "file": table},
            places=places,
        )
    return None


@Detector("Broken images", needs=NEEDS, family="odd_values_in_file")
def file_images_broken(case: Case, *, min_flat: float = 0.02, min_other: float = 0.05) -> Detected:
    """Images of a folder cannot be decoded, or are of one colour throughout.

    Seen for any file that cannot be decoded, and when {min_flat:%} of the images or more are of a single
    colour: what a failed download or conversion leaves. One colour alone, in fewer, is a sign.
    """
    for fact in listed(case, "data_images"):
        total = number(fact, "measured") or 1.0
        broken, flat = number(fact, "broken") or 0.0, number(fact, "flat") or 0.0
        if not broken and not flat:
            modes = _modes(fact)
            if len(modes) > 1 and sorted(modes.values())[-2] / total >= min_other:
                kinds = ", ".join(f"{count:,} {mode}" for mode, count in modes.items())
                return Finding(
                    f"{word(fact, 'folder')}: its images have different channels ({kinds}): a batch of them "
                    "fails, or colours are lost, unless each is converted.",
                    symptom="silent_defect",
                    severity="low",
                )
            continue
        folder = word(fact, "folder")
        listed_files = words(fact, "broken_files" if broken else "flat_files")
        flaw = "cannot be decoded" if broken else "are of one colour throughout"
        count = broken or flat
        return Finding(
            f"{folder}: {round(count):,} of {round(total):,} images {flaw}, such as "
            f"{listed_files[0] if listed_files else ''}.",
            symptom="silent_defect" if broken or flat / total >= min_flat else None,
            numbers={"broken": broken, "flat": flat, "share": count / total, "text": percent(count / total)},
        )
    return None


def _modes(fact: Fact) -> dict[str, int]:
    """How many images have which channels, as far as they were counted."""
    modes: dict[str, int] = {}
    sizes = fact.get("sizes")
    for kind, count in sizes.items() if isinstance(sizes, dict) else ():
        mode = str(kind).rpartition(" ")[2]
        modes[mode] = modes.get(mode, 0) + int(count)
    return modes


def cases() -> Cases:
    age = {"table": "a.csv", "column": "age"}
    yield from file_values_missing.fires(
        data("data_columns", age, missing=12, of=400, first_row=3),
        data("data_columns", age, odd_cells=2, odd_cell="#REF!"),
    )
    yield from file_values_missing.silent(data("data_columns", age, constant=1.0), data(""))
    price = {"table": "a.csv", "column": "price", "measured": 1000, "far_clear": 0.9}
    price |= {"suspects": [{"row": 4, "label": "900", "rather": "12"}]}
    yield from file_numbers_wrong.fires(
        data("data_targets", price, far=60, far_between=4), data("data_targets", price, far=20, far_between=2)
    )
    yield from file_numbers_wrong.silent(
        data("data_targets", price, far=5, far_between=0),
        data("data_targets", price, far=30, far_between=60),
        data("data_targets", price, far=60, far_between=4, far_clear=0.2),
    )
    watts = {**price, "column": "watts", "far": 14, "far_between": 20}
    yield from file_numbers_slipped.fires(data("data_targets", watts, slipped=14, slip=10.0))
    yield from file_numbers_slipped.silent(
        data("data_targets", watts, slipped=3, slip=10.0),
        data("data_targets", watts, far=60, slipped=14, slip=10.0),
        data("data_targets", watts, slipped=0, slip=0.0),
    )
    images = {"folder": "images", "measured": 400, "broken": 0, "flat": 0}
    images |= {"broken_files": ["a/3.png: UnidentifiedImageError"], "flat_files": ["a/4.png"]}
    yield from file_images_broken.fires(
        data("data_images", images, broken=3), data("data_images", images, flat=30)
    )
    yield from file_images_broken.silent(data("data_images", images), data(""))
