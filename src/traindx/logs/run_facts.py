"""`run.json` of a recording: settings, how it ended, what could not be measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from traindx.core.nouns import Event
from traindx.logs import jsons
from traindx.logs.log_file import File
from traindx.logs.tables import as_number

VERSION = 2
DEEPEST = 30
_WELL_KNOWN = ("command", "script", "python", "device", "world_size", "seed")
_READ_ELSEWHERE = frozenset(
    {"version", "config", "ended", "dropped", "unseen", "phases", "settings_of_phases"}
)
# What is of one training: a process may train one after another.
_OF_TRAINING = frozenset(
    "models optimizers losses loaders schedulers graph reach restored classes samples accumulation clipping "
    "histograms confirmed tokens followers callbacks".split()
)
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
    crash: Mapping[str, object] = field(default_factory=dict)


@dataclass
class RunFacts:
    """The content of `run.json`; `exists` is False when there is none.

    `phases` are the facts of the trainings before the last one, as far as they are known; `settings` are the
    names of those that each of them has for itself.
    """

    exists: bool = False
    version: float = VERSION
    config: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    ending: Ending | None = None
    inside: dict[str, object] = field(default_factory=dict)
    phases: tuple[Mapping[str, object], ...] = ()
    settings: frozenset[str] = frozenset()

    def of_part(self, later: int) -> RunFacts:
        """The facts of the training after which so many `later` ones came."""
        if not later:
            return self
        phase = self.phases[-later] if later <= len(self.phases) else {}
        facts_of_part = replace(self, notes=[], ending=None, phases=())
        if not phase:
            return replace(facts_of_part, inside={})
        shared = {key: value for key, value in self.inside.items() if key not in _OF_TRAINING}
        mine = {key: value for key, value in phase.items() if key in _OF_TRAINING}
        settings = phase.get("config")
        config = {name: value for name, value in self.config.items() if name not in self.settings}
        config |= settings if isinstance(settings, dict) else {}
        return replace(facts_of_part, config=config, inside={**shared, **mine})


def facts_of(file: File) -> RunFacts:
    """The facts of a run; of a torn file those before the tear."""
    run = jsons.load_object(file)
    if run is None:
        return RunFacts()
    version = as_number(run.get("version"))
    if version is not None and version > VERSION:
        file.note(
            f"written by a newer traindx (recording version {version:g}, not {VERSION}): update traindx"
        )
    return RunFacts(
        exists=True,
        version=1 if version is None else version,
        config=_config(run),
        notes=list(_notes(run)),
        ending=ending_of(run.get("ended")),
        inside={key: value for key, value in run.items() if key not in _READ_ELSEWHERE},
        phases=tuple(phase if isinstance(phase, Mapping) else {} for phase in _list(run.get("phases"))),
        settings=frozenset(map(str, _list(run.get("settings_of_phases")))),
    )


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def confirmed_of(file: File) -> dict[str, object]:
    """The result of experiments on the recorded script: the cause, its confidence, how many there were."""
    document = jsons.load_object(file) or {}
    if not isinstance(cause := document.get("cause"), str):
        return {}
    share, experiments = as_number(document.get("confidence")), document.get("experiments")
    count = len(experiments) if isinstance(experiments, list) else 0
    return {"confirmed": {"cause": cause[:80], "confidence": share, "experiments": count}}


def data_facts_of(file: File) -> dict[str, object]:
    """What was measured of the files that the training read."""
    document = jsons.load_object(file) or {}
    return {key: value for key, value in document.items() if key.startswith("data_")}


def ending_of(ended: object) -> Ending | None:
    """How it ended: a word, alone or in an object with its text and step."""
    if isinstance(ended, str) and ended:
        return Ending(ended[:40], "", None)
    if isinstance(ended, Mapping) and isinstance(how := ended.get("how"), str):
        text = ended.get("text")
        return Ending(how[:40], text[:2000] if isinstance(text, str) else "", as_number(ended.get("step")))
    return None


def ending_event(ending: Ending) -> Event | None:
    """The end of a training as an event; nothing when it simply finished."""
    if ending.how == "finished":
        return None
    kind = ending.how
    if kind == "exception":
        kind = exception_kind(ending.text)
    return Event(kind, ending.text or ending.how, ending.step, ending.crash)


def exception_kind(text: str) -> str:
    """`out_of_memory` for an exception that says so."""
    plain = text.lower()
    return "out_of_memory" if any(sign in plain for sign in _OUT_OF_MEMORY) else "exception"


def _config(run: Mapping[str, object]) -> dict[str, object]:
    """The settings and a few more facts; libraries as one text, since their names are no settings."""
    config_facts: dict[str, object] = {}
    for key in _WELL_KNOWN:
        value = run.get(key)
        if key == "script" and isinstance(value, Mapping):
            value = value.get("path")
        if key == "command" and isinstance(value, list):
            value = " ".join(str(word) for word in value)
        if isinstance(value, str | int | float):
            config_facts[key] = value
    libraries = run.get("libraries")
    if isinstance(libraries, Mapping) and libraries:
        config_facts["libraries"] = ", ".join(f"{name} {version}" for name, version in libraries.items())
    config = run.get("config")
    return {**config_facts, **config} if isinstance(config, dict) else config_facts


def _notes(run: Mapping[str, object]) -> Iterator[str]:
    dropped = as_number(run.get("dropped"))
    if dropped:
        yield f"{dropped:,.0f} lines could not be written: the recording has gaps"
    passed = as_number(run.get("passed_over"))
    if passed:
        yield f"{passed:,.0f} steps were only counted: a row for each would have taken too much time or space"
    unseen = run.get("unseen")
    entries = list(unseen.items()) if isinstance(unseen, Mapping) else unseen
    for entry in entries[:_NOTES_MOST] if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            entry = (entry.get("what", ""), entry.get("why", ""))
        subject, why = entry if isinstance(entry, tuple | list) and len(entry) == 2 else (entry, "")
        yield f"not measured: {subject}" + (f" ({why})" if why else "")
    links = run.get("links")
    paths = (
        [str(link.get("path", "")) if isinstance(link, Mapping) else str(link) for link in links]
        if (isinstance(links, list))
        else []
    )
    if paths:
        listed = ", ".join(paths[:3]) + (", ..." if len(paths) > 3 else "")
        yield f"the script also wrote {listed}: read as runs of their own"
