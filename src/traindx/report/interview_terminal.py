"""An interview on a terminal: its questions as they are put, and what follows the diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from traindx.report.labelled import bullets, cut, hanging, label, wrap
from traindx.report.text import count, visible
from traindx.report.wording import beginning, percent

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
        return "asked because it would tell most about the cause"
    one, other = choice.apart
    first = f"{beginning(one.cause.title)} ({percent(one.confidence)})"
    return f"asked because it tells {first} from {beginning(other.cause.title)} ({percent(other.confidence)})"


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
) -> Iterator[str]:
    """What does not fit, what is not known and how to find out, what to do next."""
    from traindx.knowledge.questions import questions

    told = [f"{count(len(interview.answers), 'answer')}"]
    unknown = [questions()[name] for name, answer in interview.answers.items() if answer.unknown]
    if unknown:
        told.append(f"{len(unknown)} of them don't know")
    yield ""
    yield label("told", screen) + screen.paint(", ".join(told), "dim")
    yield from bullets("contrary", interview.weighed.contradictions, screen)
    for number, question in enumerate(unknown[:4]):
        text = f"{question.short} {question.find_out}"
        yield from hanging("- ", text, screen, name="find out" if number == 0 else "")
    yield from _plans(plan, diagnosis, screen)
    choice = interview.next
    if choice is not None:
        yield from hanging("", f"{choice.question.short} ({choice.question.id})", screen, name="not asked")
    for number, step in enumerate(steps):
        head = label("next" if number == 0 else "", screen)
        yield head + screen.paint(screen.plain(visible(step.command)), "bold")
        yield from hanging("", step.why, screen, style="dim")


def _plans(plan: str, diagnosis: Diagnosis, screen: Screen) -> Iterator[str]:
    if not plan.strip():
        return
    from traindx.interview.plans import reply, understood_plans

    for one in understood_plans(plan):
        said = reply(one, diagnosis)
        yield from hanging("", f"To {one.say}: {said.text}", screen, name="your plan")
