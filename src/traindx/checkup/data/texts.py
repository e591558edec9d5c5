"""Columns of words that were damaged on their way: cut off, or decoded by another alphabet than written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart

_ROWS_LEAST, _AROUND, _SPIKE = 20, 5, 8.0
_SHORTEST = 16
_ALPHABETS = ("latin-1", "cp1252")
_LISTED = 3


def text_facts(part: DataPart) -> Iterator[dict[str, Any]]:
    """One fact for each column of words that holds cells decoded wrongly, or texts that end in mid-word."""
    for name, words in part.words.items():
        fact = _wrongly_decoded(words) | _cut_off(words)
        if fact:
            for key in ("decoded_rows", "cut_rows"):
                fact |= {key: [int(part.rows[at]) for at in fact[key]]} if key in fact else {}
            yield {"table": part.name, "column": name, "rows": len(part), **fact}


def _wrongly_decoded(words: Sequence[str]) -> dict[str, Any]:
    """Cells that are text again once they are written by an older alphabet and read as UTF-8."""
    repaired = {word: text for word in set(words) if (text := _repaired(word)) is not None}
    if not repaired:
        return {}
    at = [row for row, word in enumerate(words) if word in repaired]
    present = set(words)
    both = [word for word, text in repaired.items() if text in present]
    first = (both or [words[at[0]]])[0]
    return {
        "decoded": len(at),
        "decoded_rows": [at[0], at[-1]],
        "decoded_kinds": len(repaired),
        "decoded_both": len(both),
        "decoded_example": [_around(first), _around(repaired[first])],
    }


def _repaired(word: str) -> str | None:
    if word.isascii():
        return None
    for alphabet in _ALPHABETS:
        try:
            text = word.encode(alphabet).decode("utf-8")
        except UnicodeError:
            continue
        if text != word:
            return text
    return None


def _around(text: str) -> str:
    """A few characters about the first that is not ASCII."""
    place = next((at for at, letter in enumerate(text) if not letter.isascii()), 0)
    return text[max(0, place - 12) : place + 12]


def _cut_off(words: Sequence[str]) -> dict[str, Any]:
    """The one length that far more texts have than any near it, and how many of those end in mid-word."""
    lengths = np.array([len(word) for word in words])
    counts = np.bincount(lengths, minlength=2 * _AROUND + 2)
    near = np.convolve(counts, np.ones(2 * _AROUND + 1), "same") - counts
    usual = np.maximum(near / (2 * _AROUND), 1.0)
    score = np.where(counts >= _ROWS_LEAST, counts / usual, 0.0)
    score[:_SHORTEST] = 0.0
    length = int(score.argmax())
    if score[length] < _SPIKE:
        return {}
    cut = np.flatnonzero(lengths == length)
    others = np.flatnonzero(lengths != length)
    if len(others) < _ROWS_LEAST:
        return {}
    whole = {token for word in words for token in word.lower().split()[:-1]}
    whole |= {words[at].lower().split()[-1] for at in others.tolist() if words[at].split()}
    stems = {token[:size] for token in whole for size in range(1, len(token))}
    shares = [_broken_share(words, rows, whole, stems) for rows in (cut.tolist(), others.tolist())]
    return {
        "length": length,
        "cut": len(cut),
        "cut_rows": [int(cut[0]), int(cut[-1])],
        "longer": int((lengths > length).sum()),
        "cut_broken": shares[0],
        "others_broken": shares[1],
        "cut_examples": [words[at][-24:] for at in cut[:_LISTED].tolist()],
    }


def _broken_share(words: Sequence[str], rows: Sequence[int], whole: set[str], stems: set[str]) -> float:
    """The share of texts whose last word is none, but the beginning of one."""
    broken = 0
    for at in rows:
        tokens = words[at].lower().split()
        last = tokens[-1] if tokens else ""
        elsewhere = last in whole and len(last) > 1
        broken += last.isalpha() and not elsewhere and last in stems
    return broken / max(1, len(rows))
