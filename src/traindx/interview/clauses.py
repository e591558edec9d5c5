"""A description in words as clauses of known words; the words are in vocabulary.toml."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from traindx.interview.typed_numbers import numbers_in

_LONGEST = 2000
_MOST_WORDS = 5
_LONG_WORD = 6
_ENDINGS = frozenset(("", "e", "es", "s", "ed", "d", "ing", "ion", "ions", "es", "ation", "ly"))
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_TOKEN = re.compile(
    r"±?[-+]?(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?%?|[a-z]+(?:'s)?\d*|[.,;:!?\n()]"
)
_SOME = (
    "an?|half an?|several|many|a few|a couple of|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    "fifteen|twenty|thirty|forty|fifty|sixty"
)
# Signs and turns of speech, in words of the vocabulary.
_SPELLINGS = [
    (re.compile(pattern), plain)
    for pattern, plain in (
        ("\u2019", "'"),
        (r"cannot", "can not"),
        (r"n't\b", " not"),
        (r"\bit/s\b", " itps "),
        (r"(?<=\d)\s*(?:s|sec|seconds) ?/ ?(?:it|iter|step|batch)\b", " s per step"),
        (r"\+/-", "±"),
        (r"-inf\b", "inf"),
        (r">+(?=\s*[a-z])", " higher than "),
        (r"<+(?=\s*[a-z])", " lower than "),
        (r"\b(?:more|greater) than(?=[a-z_ ]*(?:train|val|test|dev))", " higher than "),
        (r"\bless(?:er)? than(?=[a-z_ ]*(?:train|val|test|dev))", " lower than "),
        (r"\bsuperior to\b", "better than"),
        (r"\binferior to\b", "worse than"),
        (r"\b(?:twice|double|triple) (?=the |that )", "higher than "),
        (rf"\b(?:{_SOME}) (?=(?:hour|day|week|minute)s?\b)", "2 "),
        (r"\b(?:ln|log)\s?\(?\d+\)?", " chance "),
        (r"_", " "),
        (r"/", " and "),
        (r"↑", " rises "),
        (r"↓", " falls "),
    )
]
_HYPHENED = re.compile(r"[a-z]+(?:-[a-z]+)+")
_COUNTED = re.compile(
    r"epochs?|steps?|iterations?|iters?|batch(?:es)?|layers?|classes|times|gpus?|images?|samples?|k"
)
_TIMES = re.compile(r"hours?|minutes?|mins?|seconds?|secs?|days?|weeks?|h|s")
_BREAKS = frozenset(".,;:!?\n()")
_TURNS = frozenset(
    "but while whereas however although though yet then when because so until instead rather whilst".split()
)
_JOINS = frozenset({"and", "or", "nor"})
_SOFT = _JOINS | {",", ":", ""}
_SEVERAL = re.compile(r"(?:S+T+){2,}|(?:T+S+){2,}")
_CUT = {"side": "S", "quantity": "S", "state": "T", "number": "T"}
_PREDICATES = ("state", "symptom", "number")


@dataclass(frozen=True)
class Word:
    """A word or number: its kind (side, quantity, state, symptom, modifier, number) and its meaning."""

    kind: str
    name: str
    value: float = 0.0


@cache
def _vocabulary() -> tuple[Mapping[str, Word], Mapping[str, Word]]:
    """Exact phrases, and stems of phrases that may end in any way."""
    data = tomllib.loads((Path(__file__).parent / "vocabulary.toml").read_text(encoding="utf-8"))
    exact: dict[str, Word] = {}
    stems: dict[str, Word] = {}
    for kind, table in data.items():
        for name, phrases in table.items():
            for phrase in phrases.split():
                place = stems if phrase.endswith("*") else exact
                place[phrase.rstrip("*").replace("_", " ")] = Word(kind, name)
    return exact, stems


def clauses(text: str) -> Iterator[list[Word]]:
    """The clauses of a text; joined where one part lacks a state, cut where a second subject begins."""
    for clause in _joined_clauses(_parts(_tokens(text))):
        yield from _cut(clause)


def words(text: str) -> list[Word]:
    """Every known word of a text."""
    return [word for _, part in _parts(_tokens(text)) for word in part]


def has(clause: Sequence[Word], *kinds: str) -> bool:
    return any(word.kind in kinds for word in clause)


def _tokens(text: str) -> list[str]:
    plain = text[:_LONGEST].lower()
    for pattern, spelling in _SPELLINGS:
        plain = pattern.sub(spelling, plain)
    return _TOKEN.findall(_HYPHENED.sub(_without_hyphen, plain))


def _without_hyphen(match: re.Match[str]) -> str:
    """`zig-zag` is one word of the vocabulary, `near-zero` two."""
    one_word = match[0].replace("-", "")
    exact, stems = _vocabulary()
    return one_word if one_word in exact or one_word.startswith(tuple(stems)) else match[0].replace("-", " ")


def _parts(tokens: Sequence[str]) -> list[tuple[str, list[Word]]]:
    """The words between marks and conjunctions, each part with its mark. What is planned is not observed."""
    parts: list[tuple[str, list[Word]]] = [("", [])]
    at = 0
    while at < len(tokens):
        token = tokens[at]
        word, length = _word(tokens, at)
        mark = length == 1 and (token in _BREAKS or token in _TURNS or token in _JOINS)
        if mark and token in ("instead", "rather"):
            at = next((n for n in range(at, len(tokens)) if tokens[n] in _BREAKS), len(tokens))
            continue
        if mark:
            parts.append((token, [Word("modifier", "later")] if token in ("then", "until") else []))
        elif word is not None and not any(w.name == "plan" for w in parts[-1][1]):
            parts[-1][1].append(word)
        at += length
    return parts


def _word(tokens: Sequence[str], at: int) -> tuple[Word | None, int]:
    """The longest known phrase that begins here, a number, or nothing; and how many tokens it takes."""
    exact, stems = _vocabulary()
    for length in range(min(_MOST_WORDS, len(tokens) - at), 0, -1):
        phrase = " ".join(tokens[at : at + length])
        if phrase in exact:
            return exact[phrase], length
        for stem, word in stems.items():
            if phrase.startswith(stem) and " " not in phrase[len(stem) :]:
                return word, length
    if re.search(r"\d", tokens[at]):
        return _number(tokens, at), 1
    return _misspelled(tokens[at]), 1


@lru_cache(4096)
def _misspelled(token: str) -> Word | None:
    """The word that a token is but for one missing letter or two swapped ones: `stoped`, `decresing`."""
    if len(token) < _LONG_WORD or not token.isalpha():
        return None
    swapped = [token[:n] + token[n + 1] + token[n] + token[n + 2 :] for n in range(1, len(token) - 1)]
    longer = [token[:n] + letter + token[n:] for n in range(1, len(token)) for letter in _LETTERS]
    exact, stems = _vocabulary()
    for guess in (*swapped, *longer):
        if guess in exact:
            return exact[guess]
        for stem, word in stems.items():
            if guess.startswith(stem) and guess[len(stem) :] in _ENDINGS:
                return word
    return None


def _number(tokens: Sequence[str], at: int) -> Word:
    """A value; a number of epochs or hours is a time."""
    token = tokens[at]
    value = (numbers_in(token.strip("±%,")) or [0.0])[0]
    before, after = (tokens[at - 1] if at else ""), (tokens[at + 1] if at + 1 < len(tokens) else "")
    if _TIMES.fullmatch(after):
        return Word("number", "time", value)
    count_match = _COUNTED.fullmatch(before) or _COUNTED.fullmatch(after)
    if count_match and not (after and _word(tokens, at + 1)[0] == Word("quantity", "time")):
        return Word("modifier", "start" if _COUNTED.fullmatch(before) and value <= 1 else "counted")
    return Word("number", "percent" if token.endswith("%") or after == "percent" else "plain", value)


def _joined_clauses(parts: Sequence[tuple[str, list[Word]]]) -> Iterator[list[Word]]:
    """`train and validation loss are high` is one clause: a part without a state goes with its neighbour."""
    clause: list[Word] = []
    for mark, part in parts:
        complete, continues = has(clause, *_PREDICATES), has(part, *_PREDICATES)
        trailing = mark in _TURNS and not continues and not has(part, "modifier")
        if complete and not trailing and ((continues and mark != "or") or mark not in _SOFT):
            yield clause
            clause = []
        if not (complete and trailing and part == [Word("side", "train")]):  # `while training`
            clause = [*clause, *part]
    if clause:
        yield clause


def _cut(clause: Sequence[Word]) -> Iterator[list[Word]]:
    """`train accuracy high val accuracy low` is two clauses."""
    kinds = [_CUT.get(w.kind, "") if w.name != "time" else "" for w in clause]
    start, shape = 0, "".join(kinds)
    if not any(w.name == "than" for w in clause) and _SEVERAL.fullmatch(shape):
        for at, kind in enumerate(kinds):
            if kind == shape[0] and any(between not in ("", kind) for between in kinds[start:at]):
                yield list(clause[start:at])
                start = at
    yield list(clause[start:])
