"""An edit of the user's script as a diff, for pages with a style sheet and for notebooks without."""

from __future__ import annotations

from traindx.core.nouns import Fix
from traindx.report.page.markup import Html, tag
from traindx.report.place_words import kind_of_line, patch_lines

_GREEN, _RED = "#2e9560", "#e0474c"  # do on light and dark pages alike
_PLAIN = {
    "pre": "margin:4px 0;padding:6px 10px;overflow-x:auto;line-height:1.35",
    "add": f"color:{_GREEN}",
    "remove": f"color:{_RED}",
    "head": "opacity:0.7",
}


def patch(fix: Fix, *, styled: bool = True) -> Html | None:
    """The diff of a fix; without a style sheet its lines carry their looks themselves."""
    lines = patch_lines(fix.patch)
    if not lines:
        return None
    looks = {} if styled else _PLAIN
    made: list[Html] = []
    for line in lines:
        kind = kind_of_line(line)
        named = kind if styled and kind else None
        made += [tag("span", line, cls=named, style=looks.get(kind)), Html("\n")]
    return tag("pre", *made, cls="patch" if styled else None, style=looks.get("pre"))
