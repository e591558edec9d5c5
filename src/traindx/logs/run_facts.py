"""`run.json` of a recording: settings, how it ended, what could not be seen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from traindx.core.nouns import Event, Unreadable
from traindx.logs import jsons
from traindx.logs.log_file import File
from traindx.logs.tables import as_number

VERSION = 2
DEEPEST = 30
_WELL_KNOWN = ("command", "script", "python", "device", "world_size", "seed")
_TOLD_ELSEWHERE = frozenset({"version", "config", "ended", "dropped", "unseen"})
_NOTES_MOST = 40
_OUT_OF_MEMORY = (
    "out of memory",
    "outofmemory",
    "memoryerror",
    "can't allocate memory",
    "cannot allocate memory",
    "unable to allocate",
    "bad_alloc",
)


@dataclass(frozen=True)
class Ending:
    """How a training ended: `finished`, `exception`, `interrupted`, `exit`, `stopped`."""

    how: str
    text: str
    step: float | None


@dataclass
class Facts:
    """What `run.json` tells; `told` is False when there is none to tell."""

    told: bool = False
    version: float = VERSION
    config: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ending: Ending | None = None
    inside: dict[str, object] = field(default_factory=dict)


def facts_of(file: File) -> Facts:
    """The facts of a run; of a torn file what stands before the tear."""
    try:
        run = jsons.load_file(file)
    except Unreadable as error:
        file.note(str(error))
        return Facts()
    if not isinstance(run, dict):
        return Facts()
    version = as_number(run.get("version"))
    if version is not None and version > VERSION:
        file.note(f"written by a newer traindx (recording version {version:g}, this one knows {VERSION})")
    return Facts(
        told=True,
        version=1 if version is None else version,
        config=_config(run),
        notes=list(_notes(run)),
        ending=ending_of(run.get("ended")),
        inside={key: value for key, value in run.items() if key not in _TOLD_ELSEWHERE},
    )


def confirmed_of(file: File) -> dict[str, object]:
    """What experiments on the recorded script have shown: the cause, how surely, how many there were."""
    try:
        told = jsons.load_file(file)
    except Unreadable:
        return {}
    if not isinstance(told, dict) or not isinstance(cause := told.get("cause"), str):
        return {}
    share, tried = as_number(told.get("confidence")), told.get("experiments")
    count = len(tried) if isinstance(tried, list) else 0
    return {"confirmed": {"cause": cause[:80], "confidence": share, "experiments": count}}


def ending_of(told: object) -> Ending | None:
    """The word of how it ended, alone or in an object with its text and step."""
    if isinstance(told, str) and told:
        return Ending(told[:40], "", None)
    if isinstance(told, Mapping) and isinstance(how := told.get("how"), str):
        text = told.get("text")
        return Ending(how[:40], text[:2000] if isinstance(text, str) else "", as_number(told.get("step")))
    return None


def ending_event(ending: Ending) -> Event | None:
    """The end of a training as an event; nothing when it simply finished."""
    if ending.how == "finished":
        return None
    kind = ending.how
    if kind == "exception":
        kind = exception_kind(ending.text)
    return Event(kind, ending.text or ending.how, ending.step)


def exception_kind(text: str) -> str:
    """`out_of_memory` for an exception that says so."""
    plain = text.lower()
    return "out_of_memory" if any(sign in plain for sign in _OUT_OF_MEMORY) else "exception"


def _config(run: Mapping[str, object]) -> dict[str, object]:
    """The settings, and a few facts beside them: libraries as one text, their names mean nothing else."""
    found: dict[str, object] = {}
    for key in _WELL_KNOWN:
        value = run.get(key)
        if key == "script" and isinstance(value, Mapping):
            value = value.get("path")
        if key == "command" and isinstance(value, list):
            value = " ".join(str(word) for word in value)
        if isinstance(value, str | int | float):
            found[key] = value
    libraries = run.get("libraries")
    if isinstance(libraries, Mapping) and libraries:
        found["libraries"] = ", ".join(f"{name} {version}" for name, version in libraries.items())
    config = run.get("config")
    return {**found, **config} if isinstance(config, dict) else found


def _notes(run: Mapping[str, object]) -> Iterator[str]:
    dropped = as_number(run.get("dropped"))
    if dropped:
        yield f"{dropped:,.0f} lines could not be written: the recording has gaps"
    passed = as_number(run.get("passed_over"))
    if passed:
        yield f"{passed:,.0f} steps were only counted: a row of each would have taken too much time or room"
    unseen = run.get("unseen")
    told = list(unseen.items()) if isinstance(unseen, Mapping) else unseen
    for entry in told[:_NOTES_MOST] if isinstance(told, list) else ():
        if isinstance(entry, Mapping):
            entry = (entry.get("what", ""), entry.get("why", ""))
        what, why = entry if isinstance(entry, tuple | list) and len(entry) == 2 else (entry, "")
        yield f"could not be looked at: {what}" + (f" ({why})" if why else "")
    links = run.get("links")
    paths = (
        [str(link.get("path", "")) if isinstance(link, Mapping) else str(link) for link in links]
        if (isinstance(links, list))
        else []
    )
    if paths:
        listed = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
        yield f"the script also wrote {listed}: read as runs of their own"
