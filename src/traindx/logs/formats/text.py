"""Plain text: whatever a training printed.

No list of known projects: the reader finds out which line shapes repeat, which numbers in them
move, what the words next to a number call it, and which number counts steps or epochs. It reads
`k=v`, `k: v`, `k v | k v`, tables under a header line, JSON or Python dicts behind a logging
prefix, progress bars redrawn by carriage returns or backspaces, meters `Loss 4.28 (4.31)` (the
number in brackets becomes `loss@mean`), terms of a loss `loss 1.2 (recon 1.0, kl 0.2)`, records
spread over several lines, per-epoch summaries among per-step lines, numbers with thousands
separators or exponents, `nan` and `inf`.

Lines without a counter take the step of the counting line they belong to. Several trainings in
one file are separated where the counter starts again; a counter that falls back to a later step
is a resume, and what it superseded is dropped. Lines of several ranks become series of their own
next to those of the first rank.

Settings come from what is printed before the first measurement: `key: value` lines, `Namespace(...)`,
dicts, command lines. Overflows, crashes, early stops and out-of-memory errors become events.

Colours, NUL holes, UTF-16 and stray bytes of other encodings do no harm. Not read are
numbers that no word names, and counters that never move.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from traindx.core.units import Bundle, Claim, Reader
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.text.clean import clean

_HOLE = 8 << 20
_TEXT_ENDINGS = (".log", ".txt", ".out", ".err", ".stdout", ".stderr", "")


def claim(file: File) -> Claim | None:
    """Any file that looks like text a person could read and that has some numbers in it."""
    dot = file.name.rfind(".")
    ending = file.name[dot:].lower() if dot > 0 else ""
    if ending not in _TEXT_ENDINGS and not ending[1:].isdigit():
        return None
    head = file.head
    if not head.strip(b"\0") and file.size > len(head):
        head = file.read(_HOLE).lstrip(b"\0")[: len(head)]
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return Claim(run=file.shown)
    body = head.replace(b"\0", b"")
    odd = sum(1 for byte in body[:4096] if byte < 7 or 14 <= byte < 27 or byte == 127)
    if odd > 0.02 * min(len(body), 4096) or not body:
        return None
    if file.size <= len(file.head) and not re.search(rb"\d", clean(body)):
        return None
    return Claim(run=file.shown)


def read(bundle: Bundle) -> Iterable[Log]:
    from traindx.logs.text.read import logs_of

    return logs_of(bundle.files[0])


READER = Reader("text", "Plain text log", 90, claim, read)
