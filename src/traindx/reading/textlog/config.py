"""Settings that a log prints before (or between) its trainings."""

from __future__ import annotations

import re

from traindx import names
from traindx.reading.textlog.clean import text

_STAMP = re.compile(
    r"^\s*(?:(?:INFO|DEBUG|WARNING)\s+-\s+)?\[?(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d[^\s\]]*|"
    r"\d\d/\d\d/\d{2,4} \d\d:\d\d:\d\d|\d\d:\d\d:\d\d)\]?(?:\s*-\s*\d+:\d\d:\d\d)?"
)
_ORIGIN = re.compile(
    r"^(?:\s*[-|:\t]?\s*(?:\[?(?:INFO|DEBUG|WARNING|ERROR)\]?|[\w.\-]+:\d+|__main__|root|"
    r"[\w.]+(?=\s*[-|]\s*(?:INFO|DEBUG)))"
    r"(?=[\s\]:|-]))*\s*[-|:>*\s]*"
)
_BULLET = re.compile(r"^[-|>*\s]*")
_PAIR = re.compile(
    r"""(?<![\w.])['"]?([A-Za-z_][\w.\-/]{0,40})['"]?\s*[=:]\s*"""
    r"""('[^'\n]{0,80}'|"[^"\n]{0,80}"|\[[^\]\n]{0,60}\]|[^\s,;(){}\[\]'"]{1,60}\(?)"""
)
_WHOLE = re.compile(r"^([A-Za-z_][\w .\-/]{0,40}?)\s*(?:[:=]|\s:\s\w+\s=)\s*(\S.{0,120}?)\s*$")
_FLAG = re.compile(r"--([A-Za-z][\w\-]{1,40})[ =]([^\s\-][^\s]{0,80})")
_PARAMETERS = re.compile(
    r"(?:(\d[\d,]*(?:\.\d+)?)\s*([KMB])?\s*(?:total |trainable |model )?param(?:eter)?s\b"
    r"|param(?:eter)?s?(?: count)?\s*[:=]\s*(\d[\d,]*(?:\.\d+)?)\s*([KMB])?\b)",
    re.I,
)
_BLANKS = re.compile(r"[ \t]{2,}")
_CODE = re.compile(
    r"^\s*(?:def |class |import |from \S+ import|return\b|if |for |while |with |@|#|assert |print\(|self\.)"
    r"|\w\(.*\)\s*$|\w\[.*\]\s*="
)
_SCALE = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
_MOST_LINES = 4000


def settings_in(region: bytes) -> dict[str, object]:
    """`key: value` lines, `Namespace(...)`, dicts and command lines of a stretch of log."""
    found: dict[str, object] = {}
    for raw in region.split(b"\n")[:_MOST_LINES]:
        if not raw.strip() or len(raw) > 20_000:
            continue
        line = _BLANKS.sub(" ", text(raw))
        stamp = _STAMP.match(line)
        body = _ORIGIN.sub("", line[stamp.end() :], count=1) if stamp else _BULLET.sub("", line, count=1)
        if (
            len(body) < 400
            and (count := _parameter_count(body))
            and count > float(str(found.get("model_parameters", 0)))
        ):
            found["model_parameters"] = count
        if _looks_nested(body):
            found.update(nested_settings(raw))
        elif len(body) < 2000 and not _CODE.search(body):
            _line(body, found)
    return found


def _looks_nested(body: str) -> bool:
    return (
        bool(re.search(r"\w\(\w+=|\{\s*['\"]\w+['\"]\s*:", body)) and body.count("=") + body.count(":") >= 2
    )


def _insides(line: str) -> list[str]:
    """What stands between the first opening and the last closing brace, and likewise for `Name(a=`."""
    found = []
    for opener, closer in ((re.search(r"\{", line), "}"), (re.search(r"\w\(\w+=", line), ")")):
        if opener and (end := line.rfind(closer)) > opener.start():
            found.append(line[opener.start() : end + 1])
    return found


def nested_settings(raw: bytes) -> dict[str, object]:
    """The pairs inside the `{...}` or `Name(...)` of one line."""
    found: dict[str, object] = {}
    line = text(raw)
    for inside in _insides(_BLANKS.sub(" ", line)):
        for key, value in _PAIR.findall(inside)[:400]:
            if not value.endswith("("):
                _keep(key, value, found)
    return found if len(found) > 1 else {}


def _line(body: str, found: dict[str, object]) -> None:
    for key, value in _FLAG.findall(body):
        _keep(key, value, found)
    whole = _WHOLE.match(body)
    if whole and not re.search(r"[:=|]", whole[2]):
        _keep(whole[1], whole[2], found)
        return
    for key, value in _PAIR.findall(body)[:40]:
        _keep(key, value, found)


def _keep(key: str, value: str, found: dict[str, object]) -> None:
    """Single words are kept as they are; a key of several words only when it names a setting."""
    key = key.strip()
    if value.endswith("("):
        return
    if " " in key and names.setting_name(key.replace(" ", "_")) is None:
        return
    found.setdefault(key.replace(" ", "_"), value.strip().strip("'\"").rstrip(","))


def _parameter_count(body: str) -> int | None:
    hit = _PARAMETERS.search(body)
    if hit is None:
        return None
    digits, scale = (hit[1], hit[2]) if hit[1] else (hit[3], hit[4])
    try:
        return round(float(digits.replace(",", "")) * _SCALE[(scale or "").lower()])
    except ValueError:
        return None
