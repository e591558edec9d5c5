"""Texts of a data file that were damaged."""

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, number, word, words
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, data, is_used, listed, reading, rows


@Detector("Text decoded by another alphabet", needs=NEEDS, family="odd_values_in_file")
def file_text_undecoded(case: Case, *, min_cells: int = 3, medium_share: float = 0.005) -> Detected:
    """Cells hold text that was written as UTF-8 and read as something else: `ZÃ¼rich` for `Zürich`.

    A cell counts if its characters, written by an old one-byte alphabet (latin-1, cp1252), are valid UTF-8
    for another text: by accident that hardly ever is so. Seen from {min_cells} cells on. Categories exist
    twice then, and words reach the model as pieces. It is of medium severity where a broken cell stands
    beside the right one, or from {medium_share:%} of the rows on.

    Silent for accents and other alphabets that are what they are, and for columns that the script drops.
    """
    for column in listed(case, "data_texts"):
        count, total = number(column, "decoded"), number(column, "rows") or 1.0
        name, table = word(column, "column"), word(column, "table")
        if count is None or count < min_cells or not is_used(case.script, name, ()):
            continue
        both = number(column, "decoded_both") or 0.0
        broken, right = [*words(column, "decoded_example"), "", ""][:2]
        span = column.get("decoded_rows")
        where = f" between {span[0]:,} and {span[1]:,}" if isinstance(span, list) and len(span) == 2 else ""
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: {rows(round(count))} of {name}{where} hold text that was decoded by the wrong "
            f"alphabet: `{broken}` for `{right}`"
            f"{f'; {round(both)} such values stand beside the right ones' if both else ''}{phrase}.",
            symptom="silent_defect",
            severity="medium" if both or count / total >= medium_share else "low",
            numbers={"rows": count, "share": count / total, "column": name, "file": table},
            places=places,
        )
    return None


@Detector("Texts cut off", needs=NEEDS, family="odd_values_in_file")
def file_texts_cut(
    case: Case, *, min_broken: float = 0.15, times_others: float = 5.0, min_longer: float = 0.1
) -> Detected:
    """Many texts of a column end after exactly so many characters, in the midst of a word.

    Seen when one length is far more frequent than those near it, at least {min_broken:%} of the texts of that
    length end with the beginning of a word that other texts have whole, {times_others} times as often as all
    others do, while {min_longer:%} of the texts are longer: a part of the data went through a field that was
    too short. Where none is longer, the limit is that of the whole file and a sign only.

    Silent for texts of one pattern and length, and for columns that the script drops.
    """
    for column in listed(case, "data_texts"):
        broken, others = number(column, "cut_broken"), number(column, "others_broken")
        count, length, longer = (number(column, key) or 0.0 for key in ("cut", "length", "longer"))
        name, table = word(column, "column"), word(column, "table")
        if broken is None or others is None or not is_used(case.script, name, ()):
            continue
        if broken < min_broken or broken < times_others * others:
            continue
        total = number(column, "rows") or 1.0
        span = column.get("cut_rows")
        where = f" between {span[0]:,} and {span[1]:,}" if isinstance(span, list) and len(span) == 2 else ""
        part = longer / total >= min_longer
        phrase, places = reading(case, table)
        end = [*words(column, "cut_examples"), ""][0]
        return Finding(
            f"{table}: {rows(round(count))} of {name}{where} end after exactly {round(length)} characters, "
            f"{percent(broken)} of them in the midst of a word (`... {end}`), while "
            f"{f'{round(longer):,} are longer' if part else 'hardly any is longer'}{phrase}.",
            symptom="silent_defect" if part else None,
            severity="medium",
            numbers={"rows": count, "length": length, "column": name, "file": table},
            places=places,
        )
    return None


def cases() -> Cases:
    city = {"table": "a.csv", "column": "city", "rows": 1800, "decoded_example": ["ZÃ¼rich", "Zürich"]}
    yield from file_text_undecoded.fires(
        data("data_texts", city, decoded=96, decoded_both=5, decoded_rows=[7, 9])
    )
    yield from file_text_undecoded.silent(data("data_texts", city, decoded=1), data("data_texts", city))
    text = {
        "table": "a.jsonl",
        "column": "text",
        "rows": 900,
        "length": 48,
        "cut": 240,
        "others_broken": 0.01,
    }
    text |= {"cut_examples": ["get this functionality, set the opti"]}
    yield from file_texts_cut.fires(
        data("data_texts", text, cut_broken=0.4, longer=600),
        data("data_texts", text, cut_broken=0.4, longer=0),
    )
    yield from file_texts_cut.silent(
        data("data_texts", text, cut_broken=0.05, longer=600),
        data("data_texts", text, cut_broken=0.4, others_broken=0.3, longer=600),
    )
