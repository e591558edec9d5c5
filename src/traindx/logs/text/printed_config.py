"""Settings that a log prints before (or between) its trainings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from traindx.core import names
from traindx.logs.text.clean import text

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
_COUNT = r"(\d[\d,]*(?:\.\d+)?)\s*([KMB])?"
_KIND = r"(non-?trainable[ _]|trainable[ _]|learnable[ _]|frozen[ _]|total[ _]|all[ _]|model[ _])?"
_PARAMETERS = re.compile(
    rf"{_COUNT}\s*{_KIND}param(?:eter)?s\b|{_KIND}param(?:eter)?s?(?: count)?\s*[:=]\s*{_COUNT}\b", re.I
)
_TRAINABLE_OF = re.compile(
    rf"\b(?:trainable|learnable)\b[^\d\n]{{0,24}}{_COUNT}\s*(?:of|out of|/)\s*{_COUNT}\b", re.I
)
# `args: lr=0.1 batch_size=2`: a title before the pairs.
_TITLE = re.compile(r"^[A-Za-z][\w \-]{0,30}:\s+(?=[A-Za-z_][\w.\-]*(?:=|:\s)\s*\S)")
_BLANKS = re.compile(r"[ \t]{2,}")
_CODE = re.compile(
    r"^\s*(?:def |class |import |from \S+ import|return\b|if |for |while |with |@|#|assert |print\(|self\.)"
    r"|\w\(.*\)\s*$|\w\[.*\]\s*="
)
_SCALE = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9}
_MOST_LINES = 4000


def settings_in(region: bytes) -> dict[str, object]:
    """`key: value` lines, `Namespace(...)`, dicts and command lines of a stretch of log."""
    settings: dict[str, object] = {}
    for raw in region.split(b"\n")[:_MOST_LINES]:
        if not raw.strip() or len(raw) > 20_000:
            continue
        line = _BLANKS.sub(" ", text(raw))
        stamp = _STAMP.match(line)
        body = _ORIGIN.sub("", line[stamp.end() :], count=1) if stamp else _BULLET.sub("", line, count=1)
        for name, count in _parameter_counts(body) if len(body) < 400 else ():
            if count > float(str(settings.get(name, 0))):
                settings[name] = count
        if _is_nested(body):
            settings.update(nested_settings(raw))
        elif len(body) < 2000 and not _CODE.search(body):
            _line(body, settings)
    return settings


def _is_nested(body: str) -> bool:
    return (
        bool(re.search(r"\w\(\w+=|\{\s*['\"]\w+['\"]\s*:", body)) and body.count("=") + body.count(":") >= 2
    )


def _insides(line: str) -> list[str]:
    """The text between the first opening and the last closing brace, and likewise for `Name(a=`."""
    insides = []
    for opener, closer in ((re.search(r"\{", line), "}"), (re.search(r"\w\(\w+=", line), ")")):
        if opener and (end := line.rfind(closer)) > opener.start():
            insides.append(line[opener.start() : end + 1])
    return insides


def nested_settings(raw: bytes) -> dict[str, object]:
    """The pairs inside the `{...}` or `Name(...)` of one line."""
    settings: dict[str, object] = {}
    line = text(raw)
    for inside in _insides(_BLANKS.sub(" ", line)):
        for key, value in _PAIR.findall(inside)[:400]:
            if not value.endswith("("):
                _keep(key, value, settings)
    return settings if len(settings) > 1 else {}


def _line(body: str, settings: dict[str, object]) -> None:
    for key, value in _FLAG.findall(body):
        _keep(key, value, settings)
    whole = _WHOLE.match(body)
    if whole and not re.search(r"[:=|]", whole[2]):
        _keep(whole[1], whole[2], settings)
        return
    for key, value in _PAIR.findall(_TITLE.sub("", body, count=1))[:40]:
        if not (_PARAMETERS.search(body) and re.fullmatch("param(?:eter)?s", key, re.I)):
            _keep(key, value, settings)


def _keep(key: str, value: str, settings: dict[str, object]) -> None:
    """Single words are kept as they are; a key of several words only when it names a setting."""
    key = key.strip()
    if value.endswith("("):
        return
    if " " in key and names.setting_name(key.replace(" ", "_")) is None:
        return
    settings.setdefault(key.replace(" ", "_"), value.strip().strip("'\"").rstrip(","))


def _parameter_counts(body: str) -> Iterator[tuple[str, int]]:
    """The numbers of all and of trainable parameters that a line reports; frozen ones are left out."""
    if hit := _TRAINABLE_OF.search(body):
        yield "trainable_parameters", _count(hit[1], hit[2])
        yield "model_parameters", _count(hit[3], hit[4])
        return
    for hit in _PARAMETERS.finditer(body):
        kind = (hit[3] or hit[4] or "").lower()
        if not kind.startswith(("non", "frozen")):
            name = "trainable_parameters" if "able" in kind else "model_parameters"
            yield name, _count(*(hit.group(1, 2) if hit[1] else hit.group(5, 6)))


def _count(digits: str, scale: str | None) -> int:
    return round(float(digits.replace(",", "")) * _SCALE[(scale or "").lower()])
