"""The content of the pages as data: causes, symptoms, remedies, reference sheets.

The folders of pages are in this package; each is read when it is first asked for. Detectors keep
their page in their docstring; `pages_of` finds them too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

from traindx.core.nouns import SEVERITIES, Severity
from traindx.knowledge.pages import Page, bullets, first_paragraph, read_page, words
from traindx.knowledge.weights import Weight, evidence_of

if TYPE_CHECKING:
    from traindx.core.units import Detector

T = TypeVar("T")
PRIORS = ("often", "sometimes", "rarely")
KINDS = ("unstable", "stuck", "unequal", "defect", "slow", "memory", "ended")
WAYS = ("more", "less", "other")
FOLDERS = {"cause": "causes", "symptom": "symptoms", "remedy": "remedies", "sheet": "sheets"}
_PACKAGE = Path(__file__).parent
# How detectors that share a file declare themselves: functions, or rows of a table that begin with the id.
_DECLARED = re.compile(r"(?:^@Detector\(.*?^def |^    _error\(\s+\")(\w+)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Cause:
    """A state of the world that makes trainings go wrong; `symptoms` says how often it is the root.

    `where` names what in a script it is about, for `source.anchors`. `settings` are those behind it, and
    whether it takes `more` or `less` than is good, or an`other` value. With `untrusted`, what is validated or
    logged proves nothing. `trial` is the share of the training that shows whether it is gone. A cause that is
    not in the published taxonomy is `kind_of` the nearest one that is.
    """

    id: str
    title: str
    meaning: str
    category: str
    symptoms: Mapping[str, str]
    remedies: tuple[str, ...]
    sheets: tuple[str, ...]
    evidence: Mapping[str, Weight]
    confirm: str
    avoid: tuple[str, ...]
    where: tuple[str, ...]
    page: Page
    settings: Mapping[str, str] = field(default_factory=dict)
    untrusted: bool = False
    trial: float | None = None
    commands: tuple[str, ...] = ()
    kind_of: str = ""


@dataclass(frozen=True)
class Symptom:
    """How a problem shows; of several the one of lowest rank is the primary one.

    `statement` is how people say it, `menu` its place in a list to choose from
    (0: not there). A person's report of it is `finding`, of this `severity`. Symptoms of one `kind` are
    commonly shown together by one cause. `trial` is the share of the training that shows whether it is gone
    (None: the usual one); `sudden` ones begin at a moment. `excludes` are symptoms that cannot be there too.
    """

    id: str
    title: str
    rank: int
    meaning: str
    sheets: tuple[str, ...]
    page: Page
    statement: str = ""
    menu: int = 0
    finding: str = ""
    severity: Severity = "medium"
    kind: str = ""
    trial: float | None = None
    sudden: bool = False
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Remedy:
    """What to do. `set` is setting -> template of its new value; `do` are templates, special ones first.

    `trials` are templates of changes that do the same to a running training, the likeliest first;
    `then` names what must be measured afterwards for `expect` to be met. It `alters` what the `loss` means,
    or what every `measure` means: then values before and after cannot be compared. It is left out where a
    condition of `unless` holds, and where one of `only` does not.
    """

    id: str
    title: str
    knobs: tuple[str, ...]
    set: Mapping[str, str]
    trials: tuple[str, ...]
    then: tuple[str, ...]
    risk: str
    do: tuple[str, ...]
    expect: str
    page: Page
    alters: str = ""
    rare: bool = False
    unless: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    larger_batch: bool = False


@dataclass(frozen=True)
class Sheet:
    """A page of reference: numbers and rules on one subject."""

    id: str
    title: str
    meaning: str
    page: Page


@cache
def causes() -> Mapping[str, Cause]:
    """Every cause by its id."""
    return _load("cause", _cause)


@cache
def symptoms() -> Mapping[str, Symptom]:
    """Every symptom by its id, the primary ones first."""
    by_id = _load("symptom", _symptom)
    return MappingProxyType(dict(sorted(by_id.items(), key=lambda item: item[1].rank)))


def symptom_kind(id: str) -> str:
    """The kind of a symptom; empty for none at all, where a remedy is tried on a healthy training."""
    return symptoms()[id].kind if id else ""


def in_the_loss(symptom: str) -> bool:
    """Whether the loss shows when a symptom is gone."""
    return symptom_kind(symptom) not in ("defect", "slow", "memory", "ended")


@cache
def remedies() -> Mapping[str, Remedy]:
    """Every remedy by its id."""
    return _load("remedy", _remedy)


@cache
def sheets() -> Mapping[str, Sheet]:
    """Every reference sheet by its id."""
    return _load("sheet", _sheet)


def causes_of(symptom: str) -> list[Cause]:
    """The causes that can be the root of a symptom, the most frequent first."""
    able = [cause for cause in causes().values() if symptom in cause.symptoms]
    return sorted(able, key=lambda cause: (PRIORS.index(cause.symptoms[symptom]), cause.title))


def _load(kind: str, build: Callable[[Page], T]) -> Mapping[str, T]:
    return MappingProxyType({path.stem: build(read_page(path, kind)) for path in _files(FOLDERS[kind])})


def _files(folder: str) -> list[Path]:
    return sorted((_PACKAGE / folder).glob("*.md"))


def _cause(page: Page) -> Cause:
    return Cause(
        id=page.id,
        title=page.title,
        meaning=page.need("meaning"),
        category=page.need("category"),
        symptoms=_priors(page),
        remedies=words(page.head.get("remedies", "")),
        sheets=words(page.head.get("sheets", "")),
        evidence=evidence_of(page),
        confirm=first_paragraph(page.section("Confirm")),
        avoid=tuple(bullets(page.section("Do not"))),
        where=words(page.head.get("where", "")),
        page=page,
        settings=_settings(page),
        untrusted=page.choice("measures", ("untrusted",)) != "",
        trial=page.share("trial"),
        commands=words(page.head.get("command", "")),
        kind_of=page.head.get("kind_of", ""),
    )


def _settings(page: Page) -> Mapping[str, str]:
    """`lr more, warmup less` by setting."""
    settings = {}
    for item in words(page.head.get("settings", "")):
        name, _, way = item.partition(" ")
        if way not in WAYS:
            raise page.malformed(f"settings must read 'name {'|'.join(WAYS)}', not {item!r}")
        settings[name] = way
    return MappingProxyType(settings)


def _priors(page: Page) -> Mapping[str, str]:
    """`divergence often, plateau rarely` by symptom."""
    priors = {}
    for item in words(page.need("symptoms")):
        symptom, _, word = item.partition(" ")
        if word.strip() not in PRIORS or symptom in priors:
            raise page.malformed(f"symptoms must read 'id {'|'.join(PRIORS)}' once each, not {item!r}")
        priors[symptom] = word.strip()
    return MappingProxyType(priors)


def _symptom(page: Page) -> Symptom:
    rank = page.need("rank")
    if not rank.isdigit():
        raise page.malformed(f"rank must be a whole number, not {rank!r}")
    severity = page.head.get("severity", "medium")
    if severity not in SEVERITIES:
        raise page.malformed(f"severity must be one of {', '.join(SEVERITIES)}, not {severity!r}")
    return Symptom(
        id=page.id,
        title=page.title,
        rank=int(rank),
        meaning=page.need("meaning"),
        sheets=words(page.head.get("sheets", "")),
        page=page,
        statement=page.need("statement"),
        menu=int(page.head.get("menu", "0")),
        finding=page.head.get("finding", ""),
        severity=severity,
        kind=page.choice("kind", KINDS, needed=True),
        trial=page.share("trial"),
        sudden=page.choice("onset", ("sudden",)) != "",
        excludes=words(page.head.get("excludes", "")),
    )


def _remedy(page: Page) -> Remedy:
    settings = {}
    for item in words(page.head.get("set", "")):
        name, equals, template = (part.strip() for part in item.partition("="))
        if not (name and equals and template):
            raise page.malformed(f"set must read 'setting = value', not {item!r}")
        settings[name] = template
    do = tuple(bullets(page.section("Do")))
    if not do:
        raise page.malformed("the section 'Do' must hold a bullet")
    return Remedy(
        id=page.id,
        title=page.title,
        knobs=words(page.head.get("knobs", "")),
        set=MappingProxyType(settings),
        trials=_items(page.head.get("try", "")),
        then=_items(page.head.get("then", "")),
        risk=page.need("risk"),
        do=do,
        expect=first_paragraph(page.section("Expect")),
        page=page,
        alters=page.choice("alters", ("loss", "measure")),
        rare=page.choice("judged_by", ("rare classes",)) != "",
        unless=_items(page.head.get("unless", "")),
        only=_items(page.head.get("only", "")),
        larger_batch=page.choice("batch", ("larger",)) != "",
    )


def _items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(";") if item.strip())


def _sheet(page: Page) -> Sheet:
    return Sheet(page.id, page.title, page.need("meaning"), page)


def pages_of(id: str) -> tuple[Page, ...]:
    """Every page under an id: a cause, a symptom, a detector, a remedy, a sheet may share it."""
    pages = []
    for kind, folder in FOLDERS.items():
        pages += [read_page(path, kind) for path in _files(folder) if path.stem == id]
    if id in _detector_names() or not pages:
        from traindx.core.units import detectors

        pages += [detector_page(unit) for unit in detectors() if unit.id == id]
    return tuple(pages)


def detector_page(unit: Detector) -> Page:
    """A detector's docstring and thresholds as a page."""
    head = {"needs": ", ".join(unit.needs), "family": unit.family, "area": unit.area}
    sections = {"What it sees": unit.page}
    rows = [f"| {unit.id}.{name} | {default!r} |" for name, default in thresholds(unit).items()]
    if rows:
        sections["Thresholds"] = "\n".join(["| threshold | default |", "| --- | --- |", *rows])
    return Page(unit.id, "detector", unit.title, MappingProxyType(head), MappingProxyType(sections))


def thresholds(unit: Detector) -> dict[str, float | int | bool | str]:
    """A detector's thresholds with their defaults: the keyword-only parameters of `detect`."""
    from inspect import signature

    parameters = signature(unit.detect).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}


def _detector_names() -> set[str]:
    """The ids of the built-in detectors, from the text of their files: importing them takes a while."""
    names: set[str] = set()
    for path in (_PACKAGE.parent / "evidence" / "detectors").glob("[!_]*/[!_]*.py"):
        text = path.read_text(encoding="utf-8")
        names |= {path.stem} if "\nDETECTOR = " in text else set(_DECLARED.findall(text))
    return names


def known_ids() -> set[str]:
    """Every id that has a page."""
    return {id for kind in ("detector", *FOLDERS) for id in ids_of(kind)}


def ids_of(kind: str) -> set[str]:
    """The ids of one kind of page, from file names; none of a kind that has no pages here."""
    if kind == "detector":
        return _detector_names()
    return {path.stem for path in _files(FOLDERS[kind])} if kind in FOLDERS else set()


def nearest(id: str, count: int = 3, also: Set[str] = frozenset()) -> tuple[str, ...]:
    """Ids that look like an unknown one, the likeliest first; `also` are ids without a page here."""
    from difflib import get_close_matches

    ids = sorted(known_ids() | also)
    close = get_close_matches(id, ids, n=count, cutoff=0.5)
    holding = [name for name in ids if id and id in name and name not in close]
    return tuple([*close, *holding][:count])
