"""Complaints in people's own words with the symptoms they name; how many are understood."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from traindx.interview.complaint import understand

FOLDER = Path(__file__).parent


def outcomes(name: str) -> dict[str, list[str]]:
    """`right`, `refused` and `wrong` -> the phrases of a file.

    Right is one of the readings (`a|b`, each `a+b`) and nothing else; refused names less than that.
    """
    sorted_out: dict[str, list[str]] = {"right": [], "refused": [], "wrong": []}
    for line in (FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        text, expected = line.split("\t")
        sorted_out[_outcome(set(understand(text).symptoms), expected)].append(text)
    return sorted_out


def _outcome(shown: set[str], expected: str) -> str:
    readings = [set(reading.split("+")) - {"-"} for reading in expected.split("|")]
    if shown - set().union(*readings):
        return "wrong"
    return "right" if any(reading <= shown for reading in readings) else "refused"


if __name__ == "__main__":
    for name in ("development", "unseen", "later", "forums"):
        print(name, dict(Counter({outcome: len(texts) for outcome, texts in outcomes(name).items()})))
