"""Ids in words: the titles of their pages."""

from __future__ import annotations

from functools import cache

from traindx.core.units import detectors
from traindx.knowledge.catalogue import causes, sheets, symptoms
from traindx.report.text import capitalised


@cache
def finding_title(finding: str) -> str:
    """The title of the detector that gives it."""
    return next((unit.title for unit in detectors() if unit.id == finding), spelled(finding))


@cache
def symptom_title(symptom: str) -> str:
    page = symptoms().get(symptom)
    return page.title if page is not None else spelled(symptom)


def cause_title(cause: str) -> str:
    """The title of its page; the id of a cause that has none."""
    page = causes().get(cause)
    return page.title if page is not None else cause


@cache
def sheet_title(sheet: str) -> str:
    page = sheets().get(sheet)
    return page.title if page is not None else spelled(sheet)


def spelled(name: str) -> str:
    """`loss_spikes` -> `Loss spikes`."""
    return capitalised(name.replace("_", " ").strip())
