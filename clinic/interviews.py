"""How well the interview does on patients with known truth: `python -m clinic.interviews [NAME...]`.

Each faulty script that was recorded (`python -m clinic`) is a patient that answers truthfully. The question
that tells most comes first; beside it the same questions in a fixed order, with the same stop rule and with
the same number of questions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from traindx.interview.next_question import open_questions
from traindx.interview.session import Interview
from traindx.knowledge.questions import Question

from .patients import Patient, patient
from .training import RUNS
from .truth import Script, scripts

USERS = {"careful": ("know", "look"), "casual": ("know",)}
_MOST = 10


@dataclass(frozen=True)
class Interviewed:
    """One interview: what was asked, what came out."""

    name: str
    cause: str
    way: str
    asked: tuple[str, ...]
    answered: int
    said: tuple[str, ...]
    first: bool
    three: bool

    @property
    def held_out(self) -> bool:
        return self.name.startswith(("second/", "third/", "fourth/", "fifth/"))


Next = Callable[[Interview], Question | None]


def most_telling(interview: Interview) -> Question | None:
    return interview.next.question if interview.next is not None else None


def in_order(interview: Interview) -> Question | None:
    """The first question of the list that concerns the symptoms, until the same stop rule ends it."""
    return None if interview.next is None else blindly(interview)


def blindly(interview: Interview) -> Question | None:
    """The first question of the list that concerns the symptoms and is not answered, without a stop rule."""
    return next(iter(open_questions(interview.weighed, interview.answers)), None)


def ask(who: Patient, way: str, choose: Next, most: int = _MOST) -> Interviewed:
    """Question by question, until there is none or enough were asked."""
    interview = Interview()
    interview.set_symptoms(who.symptoms)
    asked: list[str] = []
    while len(asked) < most and (question := choose(interview)) is not None:
        asked.append(question.id)
        interview.answer(question.id, who.answer(question))
    problems = interview.diagnosis().problems
    said = tuple(h.cause for h in problems[0].hypotheses[:3]) if problems else ()
    return Interviewed(
        who.script.name,
        who.script.cause,
        way,
        tuple(asked),
        len(interview.known),
        said,
        bool(said) and said[0] in who.script.right,
        bool(set(said) & who.script.right),
    )


def interviewed(script: Script, runs: Path) -> list[tuple[str, Interviewed]]:
    """All ways of asking, for each kind of user."""
    made: list[tuple[str, Interviewed]] = []
    recorded = patient(script, runs)
    for user, efforts in USERS.items() if recorded is not None else ():
        who = replace(recorded, efforts=frozenset(efforts))
        best = ask(who, "most telling", most_telling)
        made += [
            (user, ask(who, "nothing asked", most_telling, 0)),
            (user, best),
            (user, ask(who, "fixed order, same stop rule", in_order)),
            (user, ask(who, "fixed order, same number", blindly, len(best.asked))),
            (user, ask(who, "everything asked", blindly, 100)),
        ]
    return made


def lines(found: Sequence[tuple[str, Interviewed]]) -> list[str]:
    """The table, by user and way, for all and for the scripts by other hands."""
    made = [
        "| user | way | scripts | first | in three | questions |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for part, wanted in (("pairs", False), ("second, third, fourth", True)):
        for user in USERS:
            ways = dict.fromkeys(one.way for _, one in found)
            for way in ways:
                here = [o for u, o in found if u == user and o.way == way and o.held_out is wanted]
                if here:
                    made.append(_row(f"{part}, {user}", way, here))
    return made


def _row(who: str, way: str, here: Sequence[Interviewed]) -> str:
    count = len(here)
    first, three = sum(o.first for o in here) / count, sum(o.three for o in here) / count
    asked = sum(len(o.asked) for o in here) / count
    return f"| {who} | {way} | {count} | {first:.0%} | {three:.0%} | {asked:.1f} |"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m clinic.interviews", description=__doc__)
    parser.add_argument("names", nargs="*", help="parts of names; default: all")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--runs", type=Path, default=RUNS, help="where recordings are kept")
    parser.add_argument("--json", metavar="OUT", help="write every interview there")
    options = parser.parse_args(arguments)
    ill = [s for s in scripts() if not s.healthy and (options.runs / s.name).is_dir()]
    chosen = [s for s in ill if not options.names or any(n in s.name for n in options.names)]
    if not chosen:
        print("no recording of such a script: python -m clinic makes them", file=sys.stderr)
        return 2
    with ProcessPoolExecutor(max(1, options.jobs)) as pool:
        found = [one for some in pool.map(partial(interviewed, runs=options.runs), chosen) for one in some]
    print("\n".join(lines(found)))
    if options.json:
        told = [{"user": user, **asdict(one)} for user, one in found]
        Path(options.json).write_text(json.dumps(told, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
