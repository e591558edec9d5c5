"""Statistics and vocabularies that a training reads, against the data they are for."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from traindx.checkup.data.part import DataPart
from traindx.core import files
from traindx.core.nouns import FloatArray

_LARGEST = 16 << 20
_MEAN = re.compile(r"(?:^|_)(?:means?|mu|avg|average|center|loc)(?:_|$)", re.I)
_SPREAD = re.compile(r"(?:^|_)(?:stds?|sigma|stdev|std_dev|scale|sd)(?:_|$)", re.I)
_SLIPS = 3
_PIXELS = 16
_PIECES = re.compile("^##|\u2581|\u0120|</w>$")
_SCALES = (1.0, 255.0)


def documents(path: str) -> Any:
    """A small file of settings or statistics as plain data; None where it is none."""
    ending = os.path.splitext(path)[1].lower()
    try:
        if ending == ".npz":
            with files.opened(path) as file, np.load(file, allow_pickle=False) as loaded:
                return {name: loaded[name].tolist() for name in loaded.files if loaded[name].size <= 10_000}
        text = files.read(path, _LARGEST).decode("utf-8", "replace")
        if ending == ".json":
            return json.loads(text)
        if ending in (".yaml", ".yml"):
            import yaml

            return yaml.safe_load(text)
        if ending == ".txt":
            return [line.strip() for line in text.splitlines()]
    except Exception:  # whatever is wrong with it, it is no such document
        return None
    return None


def statistic_facts(path: str, document: Any, parts: Sequence[DataPart]) -> Iterator[dict[str, Any]]:
    """Stored means and spreads against those of the training data."""
    for key, mean, spread, names in _pairs(document):
        fitting = [
            (part, real)
            for part in parts
            if part.split in ("train", "") and (real := _real(part, len(mean), names)) is not None
        ]
        comparisons = [_compared(part, real, mean, spread) for part, real in fitting]
        if comparisons:
            best = min(comparisons, key=lambda fact: fact["worst"])
            yield {"file": os.path.basename(path), "path": path, "key": key, **best}


def _pairs(
    document: Any, key: str = "", depth: int = 0
) -> Iterator[tuple[str, FloatArray, FloatArray, list[str]]]:
    """Every mean with its spread: lists, objects by column, or single numbers."""
    if not isinstance(document, Mapping) or depth > 3:
        return
    means = [name for name in document if isinstance(name, str) and _MEAN.search(name)]
    spreads = [name for name in document if isinstance(name, str) and _SPREAD.search(name)]
    for mean, spread in zip(means, spreads, strict=False):
        a, b = document[mean], document[spread]
        if isinstance(a, Mapping) and isinstance(b, Mapping) and set(a) == set(b):
            names = [str(column) for column in a]
            values = [_vector([side[column] for column in a]) for side in (a, b)]
        else:
            names, values = [], [_vector(a), _vector(b)]
        if values[0] is not None and values[1] is not None and len(values[0]) == len(values[1]):
            yield key, values[0], values[1], names
    by_column = {
        str(name): entry
        for name, entry in document.items()
        if isinstance(entry, Mapping) and {"mean", "std"} <= {str(inner) for inner in entry}
    }
    if len(by_column) > 1:
        columns = [_vector([entry[side] for entry in by_column.values()]) for side in ("mean", "std")]
        if columns[0] is not None and columns[1] is not None:
            yield key, columns[0], columns[1], list(by_column)
        return
    for name, entry in document.items():
        yield from _pairs(entry, f"{key}.{name}" if key else str(name), depth + 1)


def _vector(value: Any) -> FloatArray | None:
    try:
        vector = np.atleast_1d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        return None
    return vector if vector.ndim == 1 and np.isfinite(vector).all() else None


def _real(part: DataPart, width: int, names: Sequence[str]) -> tuple[list[str], FloatArray] | None:
    """The columns that a stored vector of this width is of; one number is of all pixels of an array."""
    inputs = part.inputs
    if names:
        known_names = [name for name in names if name in part.names]
        if len(known_names) < len(names):
            return None
        return known_names, part.matrix(known_names)
    if width == len(inputs) and width > 1:
        return inputs, part.matrix(inputs)
    if width == 1 and part.array and len(part.names) >= _PIXELS and np.nanmin(part.numbers) >= 0:
        return [part.array], part.numbers.reshape(-1, 1)
    return None


def _compared(
    part: DataPart, real: tuple[list[str], FloatArray], mean: FloatArray, spread: FloatArray
) -> dict[str, Any]:
    names, matrix = real
    means, spreads = np.nanmean(matrix, axis=0), np.nanstd(matrix, axis=0)
    best: dict[str, Any] = {}
    for scale in _SCALES:
        fine = (spreads > 0) & (spread > 0)
        if not fine.any():
            continue
        off = np.abs(mean * scale - means)[fine] / spreads[fine]
        ratio = np.abs(np.log(spread[fine] * scale / spreads[fine]))
        deviation = np.maximum(off, ratio)
        compared_names = [name for name, is_fine in zip(names, fine, strict=True) if is_fine]
        at = int(deviation.argmax())
        place = int(np.flatnonzero(fine)[at])
        fact = {
            "table": part.name,
            "columns": len(compared_names),
            "wrong": int((deviation > 0.35).sum()),
            "worst": float(deviation[at]),
            "column": compared_names[at],
            "stored_mean": float(mean[place]),
            "stored_std": float(spread[place]),
            "real_mean": float(means[place] / scale),
            "real_std": float(spreads[place] / scale),
        }
        if not best or fact["worst"] < best["worst"]:
            best = fact
    return best or {"worst": 0.0, "wrong": 0}


def vocabulary_facts(path: str, document: Any, parts: Sequence[DataPart]) -> Iterator[dict[str, Any]]:
    """How much of the texts a stored vocabulary knows, by the way of cutting them that suits it best."""
    words = _vocabulary(path, document)
    if words is None:
        return
    if shifted := _shifted_ids(document):
        yield {"file": os.path.basename(path), "path": path, "tokens": len(words), **shifted}
    for part in parts:
        texts = part.texts
        if texts is None or part.path == path:
            continue
        sample = texts[:2_000]
        cuts = {
            "words": [text.split() for text in sample],
            "lower-case words": [text.lower().split() for text in sample],
            "letters only": [re.findall(r"\w+|[^\w\s]", text.lower()) for text in sample],
            "characters": [list(text) for text in sample],
        }
        shares = {name: _known_share(cut, words) for name, cut in cuts.items()}
        best = max(shares, key=lambda name: shares[name])
        yield {
            "file": os.path.basename(path),
            "path": path,
            "table": part.name,
            "tokens": len(words),
            "known": shares[best],
            "cut": best,
            "examples": _unknown(cuts[best], words),
        }


def _shifted_ids(document: Any) -> dict[str, Any]:
    """A number that no word has and one that two have: what stands behind the gap has slipped."""
    if not isinstance(document, Mapping) or not all(type(number) is int for number in document.values()):
        return {}
    of_id: dict[int, list[str]] = {}
    for word, number in document.items():
        of_id.setdefault(number, []).append(str(word))
    gaps = sorted(set(range(min(of_id), max(of_id) + 1)) - of_id.keys()) if len(of_id) > 1 else []
    twice = [number for number, names in of_id.items() if len(names) > 1]
    if not 0 < len(gaps) <= _SLIPS or not 0 < len(twice) <= _SLIPS:
        return {}
    behind = sum(number > gaps[0] for number in document.values())
    return {"gap": gaps[0], "twice": twice[0], "named": of_id[twice[0]][:2], "behind": behind}


def _vocabulary(path: str, document: Any) -> set[str] | None:
    if isinstance(document, Mapping):
        for key in ("vocab", "stoi", "token_to_id", "word2idx", "word_to_id"):
            if isinstance(document.get(key), Mapping | list):
                document = document[key]
                break
    if isinstance(document, Mapping) and len(document) >= 20:
        numbered = all(isinstance(number, int) for number in document.values())
        words = [str(token) for token in document] if numbered else []
    elif (
        isinstance(document, list)
        and len(document) >= 20
        and all(isinstance(token, str) for token in document)
    ):
        name = os.path.basename(path).lower()
        listed = "vocab" in name or "token" in name or "dict" in name
        words = document if listed and max(len(token.split()) for token in document) <= 2 else []
    else:
        return None
    if not words or sum(bool(_PIECES.search(token)) for token in words) > 0.02 * len(words):
        return None
    return set(words)


def _known_share(cut: Sequence[Sequence[str]], words: set[str]) -> float:
    total = sum(map(len, cut))
    return sum(token in words for row in cut for token in row) / max(1, total)


def _unknown(cut: Sequence[Sequence[str]], words: set[str]) -> list[str]:
    counts: dict[str, int] = {}
    for row in cut:
        for token in row:
            if token not in words:
                counts[token] = counts.get(token, 0) + 1
    return [token[:30] for token in sorted(counts, key=lambda token: -counts[token])[:5]]
