"""Which checks ran, and what the others would have needed, in words."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.core.nouns import Check
from traindx.report.text import count


def checks_run(coverage: Sequence[Check]) -> str:
    """`41 of 62 checks ran`."""
    ran = sum(check.status == "ran" for check in coverage)
    if ran == len(coverage):
        return f"{count(ran, 'check')} ran"
    return f"{ran:,} of {count(len(coverage), 'check')} ran"


def blind_spots(coverage: Sequence[Check]) -> list[tuple[str, list[str]]]:
    """What checks that did not run would need, and which checks: the need of most checks first."""
    groups: dict[str, list[str]] = {}
    for check in coverage:
        if check.status == "skipped":
            groups.setdefault(need(check.needs), []).append(check.check)
    return sorted(groups.items(), key=lambda group: (-len(group[1]), group[0]))


def not_checked(coverage: Sequence[Check], most: int = 1) -> str:
    """`17 not checked because 7 need the gradient norm, 10 other things`; empty when all ran."""
    blind = blind_spots(coverage)
    if not blind:
        return ""
    parts = [f"{len(checks):,} {_needs(len(checks))} {need_text}" for need_text, checks in blind[:most]]
    rest = sum(len(checks) for _, checks in blind[most:])
    parts += [f"{rest:,} {_needs(rest)} other things"] if rest else []
    return f"{sum(len(checks) for _, checks in blind):,} not checked because {'; '.join(parts)}"


def _needs(number: int) -> str:
    return "needs" if number == 1 else "need"


def need(text: str | None) -> str:
    """A detector's need in words: `lr|setting:lr` is `lr or lr in the configuration`."""
    if not text:
        return "more than the log holds"
    if " " in text:
        return text.rstrip(".")
    names = [
        f"{name.removeprefix('setting:')} in the configuration" if name.startswith("setting:") else name
        for name in text.split("|")
    ]
    return " or ".join(names)
