"""Groups of rows that give a number in another unit from the start."""

from math import exp

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, number, word
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors.files._facts import NEEDS, data, listed, reading, rows


@Detector("One group's target in another unit", needs=NEEDS, family="odd_values_in_file")
def file_group_scaled(
    case: Case,
    *,
    min_explained: float = 0.5,
    max_error: float = 0.02,
    max_off: float = 0.05,
    largest_off: float = 0.15,
    max_others: float = 0.25,
) -> Detected:
    """The target of one group of rows (a site, a device) is another unit's number from the first row on.

    The logarithm of the target is explained by the inputs and one level for each group. Seen when the level
    of one group is a known factor away from all others (10, 100, 1000, 60, ...; within {max_off} of its
    logarithm, or as far as the other groups are apart, at most {largest_off}; known to {max_error}), the
    levels of all other groups lie within {max_others} of that, and the inputs tell {min_explained:%} of the
    target within groups, this one too: it is the same function of the inputs, times a round factor.

    Silent for groups that merely have other levels (kinds of goods, sizes of shops), which are no round
    factor apart, differ among one another, or follow other rules.
    """
    for target in listed(case, "data_targets"):
        away, off, error, others, explained, own = (
            number(target, key)
            for key in ("away", "factor_off", "error", "others", "explained", "explained_own")
        )
        if away is None or off is None or error is None or others is None or explained is None or own is None:
            continue
        if (
            min(explained, own) < min_explained
            or error > max_error
            or off > max(max_off, min(others, largest_off))
        ):
            continue
        if others > max_others * abs(away):
            continue
        table, column, group = (word(target, key) for key in ("table", "scale_column", "scale_group"))
        phrase, places = reading(case, table)
        factor = number(target, "factor") or 1.0
        return Finding(
            f"{table}: where {column} is {group} ({rows(round(number(target, 'group_rows') or 0.0))}), "
            f"{word(target, 'column')} is {text(factor)} times {'larger' if away > 0 else 'smaller'} than in "
            f"other groups at equal inputs, whose levels lie within a factor of {text(exp(others))}; inputs "
            f"explain {percent(explained)} of it within groups: another unit{phrase}.",
            symptom="silent_defect",
            severity="high",
            numbers={"factor": factor, "group": group, "group_column": column, "file": table},
            places=places,
        )
    return None


def cases() -> Cases:
    site = {
        "table": "a.csv",
        "column": "kg",
        "scale_column": "site",
        "scale_group": "south",
        "group_rows": 379,
    }
    site |= {"away": -6.91, "factor": 1000.0, "explained": 0.95, "explained_own": 0.95}
    near = {"factor_off": 0.002, "error": 0.003, "others": 0.1}
    yield from file_group_scaled.fires(data("data_targets", site, **near))
    yield from file_group_scaled.silent(
        data("data_targets", site, **{**near, "factor_off": 0.3}),
        data("data_targets", site, **{**near, "others": 4.0}),
        data("data_targets", site, **{**near, "explained": 0.1}),
        data("data_targets", site, **{**near, "error": 0.2}),
    )
