"""Weights that hold far less than their shape: one direction, or the weights of another block."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from traindx.evidence.detector import Cases, Detected, Detector, Finding, Place, Run, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors._weights import anything_moved, checkpoint, matrices_of, rows_of


@Detector("Weights of one direction", needs=("fact:weights",), family="weight_rank")
def weights_one_direction(
    run: Run,
    *,
    max_rest: float = 0.01,
    min_alike: float = 0.8,
    max_embedding_rest: float = 0.25,
    min_side: int = 16,
    min_outputs: int = 3,
    min_others: float = 0.3,
) -> Detected:
    """A weight matrix has collapsed to a single direction: whatever comes in, one pattern comes out.

    Measures how much of the sum of squares of a matrix is left beside its largest singular value. Seen in a
    layer where that is {max_rest:%} or less (healthy layers of any size keep a third and more): a loss that
    rewards agreement only, or a run away along one gradient, does this. It is a problem behind the first
    layer of a model of {min_outputs} outputs or more whose typical other layer has {min_others:%} or more
    left, and a sign otherwise: with strong weight decay, layers of a net for one number need one direction.

    An embedding whose rows have a mean cosine of {min_alike} and more and {max_embedding_rest:%} or less left
    is worth knowing only: words that were trained without negatives look like it, and so do users and items
    whose products are all positive ratings.

    Silent about matrices with fewer than {min_side} rows or columns (two classes need one direction),
    adapters, tables of positions, and matrices whose units are exact copies, which is another finding.
    """
    rows = [row for row in matrices_of(run) if "spectral_norm" in row and _large(row, min_side)]
    if not rows:
        return Skipped(f"a weight matrix of at least {min_side} rows and columns")
    rests = {row["name"]: _rest(row) for row in rows}
    flat = [
        row
        for row in rows
        if (
            rests[row["name"]] <= max_embedding_rest and row.get("rows_alike", 0.0) >= min_alike
            if row["kind"] == "embedding" or _is_table(row, rows_of(run), rows)
            else rests[row["name"]] <= max_rest and row["rows_equal"] + row["rows_constant"] < row["rows"] / 2
        )
    ]
    if not flat:
        return None
    layers = [row for row in flat if rests[row["name"]] <= max_rest]
    worst = min(flat, key=lambda row: rests[row["name"]])
    others = sorted(rests[row["name"]] for row in rows if row not in flat)
    odd = bool(layers and others) and others[len(others) // 2] >= min_others
    every = matrices_of(run)
    inner = any(row["name"] != every[0]["name"] for row in layers)
    several = inner and every[-1]["rows"] >= min_outputs and len(layers) <= len(others)
    return Finding(
        text=f"{worst['name']} ({' x '.join(map(str, worst['shape']))}) holds one direction: all others "
        f"together have {percent(rests[worst['name']])} of its squares ({len(flat)} of {len(rows)} matrices "
        "are so).",
        symptom="silent_defect" if (odd and several) or not layers else None,
        severity="high" if odd and several else "low",
        numbers={"rest": rests[worst["name"]], "layers": len(flat), "layers_all": len(rows)},
        places=tuple(Place(layer=row["layer"]) for row in flat[:3]),
    )


def _rest(row: Mapping[str, Any]) -> float:
    """The share of the squares that is not in the largest singular value."""
    return max(0.0, 1.0 - (row["spectral_norm"] / row["norm"]) ** 2) if row["norm"] else 1.0


def _large(row: Mapping[str, Any], side: int) -> bool:
    words = ("lora", "adapter", "pos", "wpe")
    wide = row["rows"] >= side and row["size"] / row["rows"] >= side
    return bool(wide and row["zero_share"] < 0.9) and not any(word in row["name"].lower() for word in words)


def _is_table(row: Mapping[str, Any], every: list[dict[str, Any]], rows: list[dict[str, Any]]) -> bool:
    """Whether a checkpoint of nothing but dense matrices holds tables of vectors, as word2vec's does."""
    return bool(row["kind"] == "dense" and len(every) == len(rows) and row["rows"] > 8 * row["fan_in"])


@Detector("A block repeats another", needs=("fact:weights",), family="equal_weights")
def blocks_equal(run: Run, *, min_blocks: int = 3, max_copied: float = 0.2) -> Detected:
    """One of several blocks of a trained model equals another one in every tensor, biases and scales too.

    Blocks are what the checkpoint numbers (`h.2.*`, `h.3.*`). Two that were trained cannot be equal to the
    last digit: names were mapped wrongly when the checkpoint was converted, and the weights of one block are
    lost. Seen when at least {min_blocks} blocks have tensors of the same names and shapes, and one of them,
    or up to {max_copied:%}, repeat another.

    Silent about tensors that share memory, models in which most blocks are one (layers shared on purpose,
    heads under several names) or many are copied (a model deepened by repeating its blocks), and models in
    which nothing shows a training: copies are equal at first.
    """
    series = {front: blocks for front, blocks in _series(run).items() if len(blocks) >= min_blocks}
    if not series:
        return Skipped(f"{min_blocks} numbered blocks of the same shapes")
    for front, blocks in series.items():
        pairs = _repeated(blocks)
        if not 0 < len(pairs) <= max(1, int(max_copied * len(blocks))) or not anything_moved(run):
            continue
        first, second = (f"{front}{index}" for index in pairs[0])
        return Finding(
            text=f"Every tensor of {second} equals that of {first} to the last digit "
            f"({len(next(iter(blocks.values())))} tensors), while the other {len(blocks) - 2} blocks differ: "
            "the weights of one of them were written twice.",
            symptom="silent_defect",
            severity="high",
            numbers={"blocks": len(pairs), "blocks_all": len(blocks)},
            places=(Place(layer=first), Place(layer=second)),
        )
    return None


def _series(run: Run) -> dict[str, dict[str, dict[str, Mapping[str, Any]]]]:
    """Numbered blocks by the front of their names: `h.` -> `3` -> the rows by the rest of the name."""
    found: dict[str, dict[str, dict[str, Mapping[str, Any]]]] = {}
    for row in rows_of(run):
        if row["kind"] in ("norm_count", "counter", "scalar", "whole_numbers"):
            continue
        for match in re.finditer(r"(?:^|(?<=[._/]))(\d+)(?=[._/])", row["name"]):
            front, rest = row["name"][: match.start()], row["name"][match.end() :]
            found.setdefault(front, {}).setdefault(match[1], {})[rest] = row
    kept = {}
    for front, blocks in found.items():
        shapes = Counter(_shapes(block) for block in blocks.values())
        usual = shapes.most_common(1)[0][0]
        kept[front] = {index: block for index, block in blocks.items() if _shapes(block) == usual}
    return kept


def _shapes(block: Mapping[str, Mapping[str, Any]]) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple(sorted((rest, tuple(row["shape"])) for rest, row in block.items()))


def _repeated(blocks: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> list[tuple[str, str]]:
    """Blocks whose every tensor an earlier one has, in memory of its own."""
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    pairs = []
    for index, block in blocks.items():
        if not any(row["size"] >= 64 and row["min"] != row["max"] for row in block.values()):
            continue
        earlier = seen.setdefault(tuple(sorted((rest, row["print"]) for rest, row in block.items())), index)
        if earlier != index and any(row["storage"] != blocks[earlier][rest]["storage"]
                                    for rest, row in block.items()):  # fmt: skip
            pairs.append((earlier, index))
    return pairs


def _blocks(prints: str, **trained: Any) -> Run:
    rows = {f"h.{at}.fc.weight": {"print": letter, "storage": str(at)} for at, letter in enumerate(prints)}
    return checkpoint({**rows, "ln.weight": {"kind": "norm", "min": 0.5, "max": 1.5, **trained}})


def cases() -> Cases:
    yield from weights_one_direction.fires(
        checkpoint({"a.weight": {}, "b.weight": {"spectral_norm": 5.0}, "c.weight": {}})
    )
    table = {"kind": "embedding", "spectral_norm": 4.7, "rows_alike": 0.88}
    yield from weights_one_direction.fires(checkpoint({"emb.weight": table}))
    yield from weights_one_direction.silent(
        checkpoint({"a.weight": {}, "b.weight": {}}),
        checkpoint({"emb.weight": {**table, "rows_alike": 0.5, "spectral_norm": 3.5}}),
        checkpoint({"a.weight": {"spectral_norm": 5.0, "rows": 2, "size": 128}, "b.weight": {}}),
    )
    copied = {"spectral_norm": 5.0, "rows_equal": 63}
    yield from weights_one_direction.silent(checkpoint({"a.weight": copied}))
    yield from blocks_equal.fires(_blocks("aabc"))
    yield from blocks_equal.silent(_blocks("abcd"), _blocks("aaaa"), _blocks("aabbcc"))
    yield from blocks_equal.silent(_blocks("aabc", min=1.0, max=1.0))
