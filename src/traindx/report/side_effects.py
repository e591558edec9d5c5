"""What a script did outside the copies that experiments run it in, as lines on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from traindx.report.text import visible

_SHOWN = 4
_WORDS = {
    "redirected": "wrote outside its copy, redirected into it: ",
    "refused": "tried to write outside its copy, refused: ",
    "let through": "reached outside its copy, not prevented: ",
}


def outside_lines(outside: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """One line for each kind, the first few of each by name."""
    for how, words in _WORDS.items():
        listed = list(outside.get(how, ()))
        if listed:
            further = f", and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
            yield f"The script {words}{', '.join(visible(path, 120) for path in listed[:_SHOWN])}{further}"
