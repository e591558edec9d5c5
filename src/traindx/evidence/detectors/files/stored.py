"""Files that were made of other data: statistics, checkpoints, vocabularies."""

from traindx.evidence.detector import (
    Case,
    Cases,
    Detected,
    Detector,
    Finding,
    number,
    word,
    words,
)
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors.files._facts import NEEDS, data, listed, reading


@Detector("Stored statistics are of other data", needs=NEEDS, family="stored_statistics")
def file_statistics_wrong(case: Case, *, max_offset: float = 0.5, min_share: float = 0.05) -> Detected:
    """Means and standard deviations that are stored in a file are not those of the training data.

    Seen when a stored mean is off by more than {max_offset} standard deviations of the column, or a stored
    deviation by that much on a logarithmic scale, for at least {min_share:%} of the columns. Inputs scaled
    by them are not normalised.

    One mean and one deviation are those of all pixels of an array. Low where a score says the model does
    well: the statistics may be those of the data that its weights were trained on before. Silent for
    statistics of another number of columns, and for those of images in 0 to 1 that are stored as 0 to 255.
    """
    for entry in listed(case, "data_statistics"):
        worst, wrong, columns = (number(entry, key) for key in ("worst", "wrong", "columns"))
        if worst is None or wrong is None or not columns or worst < max_offset or wrong / columns < min_share:
            continue
        name, table = word(entry, "file"), word(entry, "table")
        stored, real = (
            [number(entry, f"{kind}_{key}") or 0.0 for key in ("mean", "std")] for kind in ("stored", "real")
        )
        phrase, places = reading(case, name)
        return Finding(
            f"{name}: for {word(entry, 'column')} it holds mean {text(stored[0])} and standard deviation "
            f"{text(stored[1])}; in {table} they are {text(real[0])} and {text(real[1])}. {round(wrong)} of "
            f"{round(columns)} columns are off: these are statistics of other data{phrase}.",
            symptom="silent_defect",
            severity="low" if case.level.good else "high",
            numbers={"worst": worst, "columns": wrong, "file": name},
            places=places,
        )
    return None


@Detector("A damaged checkpoint is loaded", needs=NEEDS, family="checkpoint_in_file")
def file_checkpoint_damaged(case: Case) -> Detected:
    """A checkpoint that the training loads is damaged: layers of zeros, NaN, units without weights.

    Seen when `traindx check` on the file finds NaN, weights of zero, units without weights or alike, or
    weights that exploded. The training goes on from them without a word, and ends worse than from the file
    as it was meant to be.

    Silent about checkpoints that the training wrote itself, and about files that hold code. Known mistakes:
    a model that was pruned on purpose.
    """
    for checkpoint in listed(case, "data_checkpoints"):
        name = word(checkpoint, "file")
        phrase, places = reading(case, name)
        return Finding(
            f"{name}: {word(checkpoint, 'text').rstrip('.')}{phrase}.",
            symptom="silent_defect",
            severity="high" if word(checkpoint, "severity") in ("high", "critical") else "medium",
            numbers={"file": name},
            places=places,
        )
    return None


@Detector("A vocabulary whose numbers slipped", needs=NEEDS, family="vocabulary_slipped")
def file_vocabulary_slipped(case: Case) -> Detected:
    """A stored vocabulary skips a number and uses another twice: words look up rows of others.

    Seen when up to three numbers belong to no word and as few to two words. An edit by hand or a merge that
    inserts a word moves all words behind it, while the table of vectors stays as it was.

    Silent for vocabularies that only have gaps (words that were left out), or only share numbers.
    """
    for row in listed(case, "data_vocabularies"):
        gap, twice = number(row, "gap"), number(row, "twice")
        if gap is None or twice is None:
            continue
        name = word(row, "file")
        phrase, places = reading(case, name)
        pair = " and ".join(f"`{word}`" for word in words(row, "named"))
        return Finding(
            f"{name}: no word has the number {round(gap)}, and two have {round(twice)} ({pair}): the "
            f"{round(number(row, 'behind') or 0):,} words behind the gap look up the rows of others{phrase}.",
            symptom="silent_defect",
            severity="high",
            numbers={"gap": gap, "file": name},
            places=places,
        )
    return None


@Detector("A vocabulary of other texts", needs=NEEDS, family="vocabulary_misses")
def file_vocabulary_misses(case: Case, *, min_known: float = 0.75) -> Detected:
    """A stored vocabulary does not know the words of the data: it was made of other texts.

    Seen when, by the way of cutting texts that suits it best, it knows less than {min_known:%} of the words.
    The rest reaches the model as one token for "unknown".

    Silent for vocabularies of word pieces, which know everything in parts.
    """
    for row in listed(case, "data_vocabularies"):
        share = number(row, "known")
        if share is None or share >= min_known:
            continue
        name, table = word(row, "file"), word(row, "table")
        phrase, places = reading(case, name)
        examples = ", ".join(words(row, "examples")[:3])
        return Finding(
            f"{name} knows {percent(share)} of the words of {table} (not: {examples}): most of a text "
            f"reaches the model as unknown{phrase}.",
            symptom="silent_defect",
            severity="high" if share < 0.5 else "medium",
            numbers={"known": share, "file": name},
            places=places,
        )
    return None


def cases() -> Cases:
    slipped = {"file": "vocab.json", "gap": 120, "twice": 1, "named": ["<unk>", "zoo"], "behind": 2881}
    yield from file_vocabulary_slipped.fires(data("data_vocabularies", slipped))
    whole = {"file": "vocab.json", "table": "t.csv", "known": 0.99}
    yield from file_vocabulary_slipped.silent(data("data_vocabularies", whole), data(""))
    empty = {
        "file": "encoder.pt",
        "text": "88 % of the units have no weights.",
        "severity": "medium",
    }
    yield from file_checkpoint_damaged.fires(data("data_checkpoints", empty))
    yield from file_checkpoint_damaged.silent(
        data(""), data("data_columns", {"table": "a.csv", "column": "b"})
    )
    stored = {"file": "stats.json", "table": "x.npy", "columns": 10, "column": "x[5]", "stored_mean": 94.6}
    stored |= {"stored_std": 41.0, "real_mean": -50.8, "real_std": 29.1}
    yield from file_statistics_wrong.fires(data("data_statistics", stored, worst=5.0, wrong=9))
    yield from file_statistics_wrong.silent(
        data("data_statistics", stored, worst=0.01, wrong=0),
        data("data_statistics", stored, worst=0.4, wrong=1),
    )
    words = {"file": "vocab.json", "table": "reviews.tsv", "examples": ["the", "good"]}
    yield from file_vocabulary_misses.fires(data("data_vocabularies", words, known=0.3))
    yield from file_vocabulary_misses.silent(data("data_vocabularies", words, known=0.97), data(""))
