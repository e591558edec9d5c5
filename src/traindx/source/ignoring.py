"""Comments that silence findings: `# traindx: ignore` on the line, or `# traindx: ignore[id, id]`."""

from __future__ import annotations

import re

from traindx.core.nouns import Finding
from traindx.source.script import Script

_COMMENT = re.compile(r"#\s*traindx:\s*ignore(?:\[([^\]]*)\])?(?![\w\[])")


def silenced(script: Script, id: str, finding: Finding) -> bool:
    """Whether the line of a finding, or the first line of its statement, silences it."""
    if not finding.places or finding.places[0].line is None:
        return False
    at = finding.places[0]
    source = next((candidate for candidate in script.sources if candidate.path == at.file), None)
    if source is None or at.line is None or not 0 < at.line <= len(source.lines):
        return False
    return _silences(source.lines[at.line - 1], id)


def _silences(line: str, id: str) -> bool:
    comment = _COMMENT.search(line)
    if comment is None:
        return False
    return comment[1] is None or id in {name.strip() for name in comment[1].split(",")}
