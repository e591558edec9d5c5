"""How much of the request works: `python -m tests.request.score`, with `--scripts` also what runs scripts."""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from tests.request.table import HERE, TABLES, Case, cases, check, items


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("words", nargs="*", help="only cases whose id contains one of these")
    options.add_argument("--scripts", action="store_true", help="also the cases that run scripts (slow)")
    options.add_argument("--document", help="only items of this document")
    options.add_argument("--note", action="store_true", help="write known_failing of these cases")
    chosen = options.parse_args()
    every = [one for one in cases() if chosen.scripts or not one.slow]
    every = [one for one in every if not chosen.words or any(word in one.id for word in chosen.words)]
    if chosen.document:
        every = [one for one in every if any(item.startswith(chosen.document) for item in one.items)]
    results = {}
    for one in every:
        results[one.id] = _checked(one)
        if results[one.id]:
            print(f"wrong  {one.id}: {'; '.join(results[one.id])}", flush=True)
    if chosen.note:
        note({case: bool(lines) for case, lines in results.items()})
    _by_item(every, results, chosen.document or "")
    _totals(every, results)


def note(failing: dict[str, bool]) -> None:
    """Writes or deletes `known_failing` of the cases that were run."""
    for name, prefix in TABLES.items():
        _note(HERE / name, prefix, failing)


def _note(path: Path, prefix: str, failing: dict[str, bool]) -> None:
    blocks = []
    for block in path.read_text(encoding="utf-8").split("[[case]]\n"):
        name = block.partition("\n")[0].removeprefix('id = "').removesuffix('"')
        if name in failing:
            block = block.replace("known_failing = true\n", "")
            if failing[name]:
                head, line, rest = block.partition("\ncommand = ")
                block = f"{head}\nknown_failing = true{line}{rest}"
        blocks.append(block)
    text = "[[case]]\n".join(blocks)
    head, _, tail = text.partition("[words]\n")
    lines = []
    numbers = iter(range(1, 1000))
    for line in tail.splitlines():
        name = f"{prefix}words-{next(numbers):02d}" if line.startswith('"') else ""
        if name in failing:
            line = line.removesuffix(" # known_failing") + (" # known_failing" if failing[name] else "")
        lines.append(line)
    path.write_text("\n".join([head + "[words]", *lines]) + "\n", encoding="utf-8")


def _checked(case: Case) -> list[str]:
    try:
        return check(case)
    except Exception as error:  # a crash is a wrong answer too
        return [f"{type(error).__name__}: {error}"]


def _by_item(every: list[Case], results: dict[str, list[str]], document: str) -> None:
    """A line for each item that has a wrong case, and counts for each document."""
    of_item = defaultdict(list)
    for case in every:
        for item in case.items:
            of_item[item].append(case)
    print("\nitems with a wrong case (right of all)")
    documents: dict[str, Counter[str]] = defaultdict(Counter)
    for item in items():
        if not item["id"].startswith(document):
            continue
        own = of_item[item["id"]]
        right = sum(not results[case.id] for case in own)
        state = "no case" if not own else "right" if right == len(own) else "wrong" if not right else "partly"
        documents[item["document"]][state if item["state"] == "now" else f"planned ({item['state']})"] += 1
        if own and right < len(own):
            print(f"  {item['id']:32} {right} of {len(own)}")
    print("\nitems by document")
    for name, states in documents.items():
        print(f"  {name}  " + ", ".join(f"{count} {state}" for state, count in sorted(states.items())))


def _totals(every: list[Case], results: dict[str, list[str]]) -> None:
    print("\ncases by pattern: right of all")
    for pattern in sorted({case.pattern for case in every}):
        own = [case for case in every if case.pattern == pattern and not case.lookalike]
        print(f"  {pattern:12} {sum(not results[case.id] for case in own):3} of {len(own)}")
    twins = [case for case in every if case.lookalike]
    ill = sum(any(line.startswith("verdict problem") for line in results[case.id]) for case in twins)
    print(
        f"  look-alikes  {sum(not results[case.id] for case in twins):3} of {len(twins)}; called ill: {ill}"
    )
    print(f"all: {sum(not lines for lines in results.values())} of {len(results)} right")


if __name__ == "__main__":
    main()
