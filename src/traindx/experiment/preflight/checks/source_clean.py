"""The source shows no known mistake.

What 'traindx lint' says of the script and the modules of its folder, findings of medium severity and
above.
"""

from __future__ import annotations

from traindx.experiment.preflight.check import Answer, Item, passed, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Flight

ITEM = Item(title="The source shows no known mistake", group="model", order=4)


def look(flight: Flight) -> Answer:
    case = flight.untouched
    if case is None or case.script is None:
        return unknown(flight.why_not(UNTOUCHED) or "there is no source to read")
    known = [name for name in flight.coverage if name.startswith("script_")]
    found = flight.trouble(*known)
    if found is not None:
        return from_finding(flight, found)
    ran = sum(1 for name in known if flight.coverage[name].status == "ran")
    return passed(f"{ran} rules had something to look at.", rules=ran)
