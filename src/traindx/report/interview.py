"""An interview on a terminal: its questions as they are put, and what follows the diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from traindx.report.document import Block, Items, Labelled, Span
from traindx.report.text import count, percent
from traindx.report.to_terminal import cut, lines, wrap
from traindx.report.wording import beginning

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.interview.next_commands import NextCommand
    from traindx.interview.next_question import QuestionChoice
    from traindx.interview.session import Interview
    from traindx.knowledge.questions import Question
    from traindx.report.layout import Screen


def menu_lines(says: Sequence[str], screen: Screen) -> Iterator[str]:
    """Numbered options."""
    for number, say in enumerate(says, 1):
        lines = wrap(say, screen.width - 6, screen)
        yield f"{number:>4}  {lines[0]}"
        yield from (f"      {line}" for line in lines[1:])


def question_lines(choice: QuestionChoice, number: int, screen: Screen) -> Iterator[str]:
    """A question with its reason and its options."""
    question = choice.question
    head = f"{number}. "
    lines = wrap(question.ask, screen.width - len(head), screen)
    yield ""
    yield screen.paint(head + lines[0], "bold")
    yield from (" " * len(head) + screen.paint(line, "bold") for line in lines[1:])
    for line in wrap(reason(choice), screen.width - 3, screen):
        yield "   " + screen.paint(line, "dim")
    yield from form_lines(question, screen)


def form_lines(question: Question, screen: Screen) -> Iterator[str]:
    """How to answer."""
    if question.chosen:
        yield from menu_lines([option.say for option in question.options.values()], screen)
    elif question.kind == "values":
        yield "   " + screen.paint("end with an empty line", "dim")
    else:
        yield "   " + screen.paint(f"for example: {question.example}", "dim")


def reason(choice: QuestionChoice) -> str:
    """Why it is asked."""
    if choice.apart is None:
        return "asked because it says most about the cause"
    one, other = choice.apart
    first = f"{beginning(one.cause.title)} ({percent(one.confidence)})"
    second = f"{beginning(other.cause.title)} ({percent(other.confidence)})"
    return f"asked because it separates {first} from {second}"


def ranking_line(interview: Interview, screen: Screen) -> str:
    """How things stand, in a line; empty while there is nothing to say."""
    from traindx.interview.next_question import differentials

    problems = differentials(interview.weighed)
    if not problems or not problems[0].ranked:
        return ""
    leading = [f"{beginning(r.cause.title)} {percent(r.confidence)}" for r in problems[0].ranked[:3]]
    return screen.paint(cut(f"   so far: {', '.join(leading)}", screen.width, screen), "dim")


def afterwards(
    interview: Interview, diagnosis: Diagnosis, plan: str, steps: Sequence[NextCommand], screen: Screen
) -> list[str]:
    """What does not fit, what is not known and how to find out, what to do next."""
    return ["", *lines(_afterwards(interview, diagnosis, plan, steps), screen)]


def _afterwards(
    interview: Interview, diagnosis: Diagnosis, plan: str, steps: Sequence[NextCommand]
) -> Iterator[Block]:
    from traindx.knowledge.questions import questions

    unknown = [questions()[name] for name, answer in interview.answers.items() if answer.unknown]
    not_known = f", {len(unknown)} of them don't know" if unknown else ""
    yield Labelled("answered", count(len(interview.answers), "answer") + not_known, "dim")
    if interview.weighed.contradictions:
        yield Items(tuple(interview.weighed.contradictions), "contrary")
    if unknown:
        yield Items(tuple(f"{one.short} {one.find_out}" for one in unknown[:4]), "find out")
    yield from _plans(plan, diagnosis)
    choice = interview.next
    if choice is not None:
        yield Labelled("not asked", f"{choice.question.short} ({choice.question.id})")
    for number, step in enumerate(steps):
        yield Labelled("next" if number == 0 else "", Span(step.command), "bold")
        yield Labelled("", step.why, "dim")


def _plans(plan: str, diagnosis: Diagnosis) -> Iterator[Block]:
    if not plan.strip():
        return
    from traindx.interview.plans import reply, understood_plans

    for one in understood_plans(plan):
        yield Labelled("your plan", f"To {one.say}: {reply(one, diagnosis).text}")
