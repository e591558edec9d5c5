"""Labels that other rows contradict."""

import math

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, number, word, words
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, data, listed, reading, rows, suspects


@Detector("Equal inputs with different labels", needs=NEEDS, family="labels_in_file")
def file_labels_contradict(
    case: Case, *, min_inputs: int = 3, min_share: float = 0.002, medium_share: float = 0.02
) -> Detected:
    """The same inputs are in a data file more than once, with different labels.

    Seen when at least {min_inputs} inputs that are too long to be equal by accident (images, texts, rows of
    many numbers) have two labels, and these are {min_share:%} of the rows or more. One of the two is wrong.

    Silent for rows that may well be equal by accident. Known mistakes: tasks where one input rightly has
    many answers.
    """
    for target in listed(case, "data_targets"):
        count, total = number(target, "contradicting"), number(target, "rows")
        inputs = number(target, "contradicting_inputs") or 0.0
        if count is None or not total or inputs < min_inputs or count / total < min_share:
            continue
        table = word(target, "table")
        phrase, places = reading(case, table)
        between = word(target, "contradicting_classes")
        return Finding(
            f"{table}: {round(inputs)} inputs are there twice or more with different labels (mostly "
            f"{between}): {rows(round(count))}, {percent(count / total)}, contradict each other{phrase}.",
            symptom="silent_defect",
            severity="medium" if count / total >= medium_share else "low",
            numbers={"rows": count, "share": count / total, "file": table},
            places=places,
        )
    return None


@Detector("Wrong labels in a data file", needs=NEEDS, family="labels_in_file")
def file_labels_noisy(
    case: Case,
    *,
    min_share: float = 0.02,
    medium_share: float = 0.05,
    min_sure: int = 60,
    min_margin: float = 0.25,
    clear_margin: float = 0.45,
    far_margin: float = 0.85,
    min_level: float = 0.9,
    clear_level: float = 0.78,
    z_score: float = 2.3,
) -> Detected:
    """Labels of a data file contradict what all other rows say of their inputs: a share of them is wrong.

    A small model of traindx's own predicts each row's label from all other rows. Seen when it is
    contradicted even where it is surest and the nearest rows agree with it: where classes merely overlap,
    its errors end there, while wrong labels are everywhere. Of the surest rows, at least {min_share:%} must
    be contradicted, beyond chance, and at least {clear_level} times as often as of those it is less sure of
    ({min_level} times where the model is little better than chance), unless classes hardly overlap.

    The most suspicious rows are listed. Silent under {min_sure} sure rows and where inputs say little of the
    labels. Known mistakes: small groups of rows that follow another rule.
    """
    for target in listed(case, "data_targets"):
        surest, wrong, score, chance = (
            number(target, key) for key in ("surest", "surest_wrong", "score", "chance")
        )
        if surest is None or wrong is None or score is None or chance is None or surest < min_sure:
            continue
        share, margin = wrong / surest, (score - chance) / max(1e-9, 1 - chance)
        sure = (number(target, "sure_wrong") or 0.0) / (number(target, "sure") or surest)
        # Where classes overlap, a model errs less the surer it is.
        level = share / sure if sure else 1.0
        least_level = min_level if margin < clear_margin else clear_level if margin < far_margin else 0.0
        if margin < min_margin or level < least_level:
            continue
        least = _at_least(wrong, surest, z_score)
        if least < min_share:
            continue
        table, count = word(target, "table"), round(number(target, "suspected") or 0.0)
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: where a small model is surest of the label and the nearest rows agree with it, "
            f"{percent(share)} of the labels ({round(wrong)} of {round(surest)}) are others. "
            f"{count} rows are suspicious, first {suspects(target)}{phrase}.",
            symptom="silent_defect",
            severity="medium" if least >= medium_share else "low",
            strength=min(1.0, least / medium_share),
            numbers={"noise": share, "at_least": least, "suspects": count, "file": table},
            places=places,
        )
    return None


def _at_least(wrong: float, total: float, z: float) -> float:
    """The lower end of Wilson's interval for a share."""
    share = wrong / total
    middle = share + z * z / (2 * total)
    return (middle - z * math.sqrt(share * (1 - share) / total + z * z / (4 * total**2))) / (
        1 + z * z / total
    )


@Detector("Rows of one class under another", needs=NEEDS, family="labels_in_file")
def file_labels_moved(
    case: Case,
    *,
    min_rows: int = 6,
    min_share: float = 0.03,
    times_next: float = 3.0,
    min_margin: float = 0.9,
) -> Detected:
    """Rows of one class are labelled as one other class: a few files in the wrong folder, a mistaken rule.

    Seen where classes are told apart well (a small model reaches {min_margin:%} of the way from chance to
    all), and at least {min_rows} rows, {min_share:%} of a label, belong to one other class as surely as that
    class's own rows do, in the small model's eyes and in those of the nearest rows. No other pair of classes
    may have a third as many: classes that are merely alike are mistaken in both directions, and less surely.
    """
    for target in listed(case, "data_targets"):
        moved, after, total, score, chance = (
            number(target, key) for key in ("moved", "moved_next", "moved_of", "score", "chance")
        )
        if moved is None or after is None or not total or score is None or chance is None:
            continue
        if (score - chance) / max(1e-9, 1 - chance) < min_margin or moved < min_rows:
            continue
        if moved / total < min_share or moved < times_next * after:
            continue
        table, names = word(target, "table"), words(target, "moved_classes")
        listed_rows = target.get("moved_rows")
        at = ", ".join(str(row) for row in listed_rows[:6]) if isinstance(listed_rows, list) else ""
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: {round(moved)} of the {round(total)} rows labelled {names[0]} are {names[1]} by all "
            f"that the other rows say (rows {at}), and hardly any other label is contradicted{phrase}.",
            symptom="silent_defect",
            severity="medium",
            numbers={"rows": moved, "share": moved / total, "file": table},
            places=places,
        )
    return None


@Detector("Wrong labels in one group of rows", needs=NEEDS, family="labels_in_file")
def file_noise_in_group(
    case: Case, *, min_share: float = 0.15, times_others: float = 3.0, z_score: float = 6.0
) -> Detected:
    """Labels of one group of rows (a site, an annotator) are wrong far more often than the others.

    A small model predicts each row's label from all other rows. Seen when, among the rows it is sure of, one
    value of some column is contradicted at least {min_share:%} of the time and {times_others} times as often
    as all others. The column need not be one that the script uses. Classes whose names were exchanged in one
    group are found although a model that knows the group learns them.

    Silent where a group is merely harder, or has other classes: only rows that the model is sure of count.
    """
    for target in listed(case, "data_targets"):
        inside, elsewhere, z = (number(target, key) for key in ("group_wrong", "others_wrong", "group_z"))
        if inside is None or elsewhere is None or z is None:
            continue
        if inside < min_share or inside < times_others * elsewhere or z < z_score:
            continue
        table, column, value = (word(target, key) for key in ("table", "group_column", "group"))
        phrase, places = reading(case, table)
        swapped = word(target, "group_swapped")
        swap = f": {swapped}" if swapped else ""
        return Finding(
            f"{table}: where {column} is {value} ({rows(round(number(target, 'group_rows') or 0.0))}), "
            f"{percent(inside)} of the labels contradict what a small model is sure of{swap}; of all others "
            f"{percent(elsewhere)}: the labels of this group are not to be trusted{phrase}.",
            symptom="silent_defect",
            numbers={"noise": inside, "others": elsewhere, "column": column, "group": value, "file": table},
            places=places,
        )
    return None


def cases() -> Cases:
    twice = {"table": "images", "rows": 510, "contradicting_classes": "ring and square"}
    yield from file_labels_contradict.fires(
        data("data_targets", twice, contradicting=120, contradicting_inputs=60)
    )
    yield from file_labels_contradict.silent(
        data("data_targets", twice, contradicting=2, contradicting_inputs=1),
        data("data_targets", twice, contradicting=12, contradicting_inputs=6, rows=50_000),
    )
    noisy = {
        "table": "a.csv",
        "column": "label",
        "surest": 400,
        "suspected": 40,
        "score": 0.85,
        "chance": 0.5,
    }
    noisy |= {"suspects": [{"row": 4, "label": "cat", "rather": "dog"}]}
    yield from file_labels_noisy.fires(
        data("data_targets", noisy, surest_wrong=48), data("data_targets", noisy, surest_wrong=20)
    )
    yield from file_labels_noisy.silent(
        data("data_targets", noisy, surest_wrong=4),
        data("data_targets", noisy, surest_wrong=48, score=0.55),
        data("data_targets", noisy, surest_wrong=8, surest=40),
    )
    eight = {
        "table": "digits",
        "moved_of": 98,
        "moved_classes": ["8", "3"],
        "moved_rows": [4, 9],
        "chance": 0.1,
    }
    yield from file_labels_moved.fires(data("data_targets", eight, moved=9, moved_next=0, score=0.95))
    yield from file_labels_moved.silent(
        data("data_targets", eight, moved=9, moved_next=6, score=0.95),
        data("data_targets", eight, moved=9, moved_next=0, score=0.7),
        data("data_targets", eight, moved=2, moved_next=0, score=0.95),
    )
    site = {"table": "a.csv", "group_column": "site", "group": "west", "group_rows": 470}
    yield from file_noise_in_group.fires(
        data("data_targets", site, group_wrong=0.6, others_wrong=0.01, group_z=25.0)
    )
    yield from file_noise_in_group.silent(
        data("data_targets", site, group_wrong=0.2, others_wrong=0.12, group_z=7.0),
        data("data_targets", site, group_wrong=0.1, others_wrong=0.01, group_z=9.0),
    )
