"""The pages of the checks of `traindx preflight`: what each checks, and when it fails."""

from __future__ import annotations

from traindx.experiment.preflight.check import GROUPS, Item, ids, items


def markdown(item: Item) -> str:
    """The whole page."""
    kind = f"`{item.id}`, a check of `traindx preflight` ({GROUPS[item.group].lower()})."
    return f"# {item.title}\n\n{kind} {item.page}\n"


def page_of(id: str) -> str | None:
    """The page of a check; None when none is called so."""
    # By name first: the checks themselves take a while to load.
    candidates = items() if id in ids() else ()
    return next((markdown(item) for item in candidates if item.id == id), None)
