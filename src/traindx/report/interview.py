"""An interview on a terminal: its questions as they are put, and what follows the diagnosis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from traindx.report import document as doc
from traindx.report.document import Block, Items, Labelled, Span
from traindx.report.text import count, percent, visible
from traindx.report.to_terminal import cut, lines, wrap
from traindx.report.wording import beginning

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.interview.next_commands import NextCommand
    from traindx.interview.next_question import QuestionChoice
    from traindx.interview.session import Interview
    from traindx.knowledge.questions import Question
    from traindx.report.layout import Screen

_LONGEST = 200


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
    cause, rival = choice.apart
    first = f"{beginning(cause.cause.title)} ({percent(cause.confidence)})"
    second = f"{beginning(rival.cause.title)} ({percent(rival.confidence)})"
    return f"asked because it separates {first} from {second}"


def ranking_line(interview: Interview, screen: Screen) -> str:
    """The ranking so far in one line; empty while there is none."""
    from traindx.interview.next_question import differentials

    problems = differentials(interview.weighed)
    if not problems or not problems[0].ranked:
        return ""
    leading = [f"{beginning(r.cause.title)} {percent(r.confidence)}" for r in problems[0].ranked[:3]]
    return screen.paint(cut(f"   so far: {', '.join(leading)}", screen.width, screen), "dim")


def afterwards(
    interview: Interview, diagnosis: Diagnosis, plan: str, steps: Sequence[NextCommand], screen: Screen
) -> list[str]:
    """Contradictions, unknown answers and how to find them out, and the next steps."""
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
        yield Items(tuple(f"{question.short} {question.find_out}" for question in unknown[:4]), "find out")
    yield from (Labelled("your plan", text) for text in _replies(plan, diagnosis))
    choice = interview.next
    if choice is not None:
        yield Labelled("not asked", f"{choice.question.short} ({choice.question.id})")
    for number, step in enumerate(steps):
        yield Labelled("next" if number == 0 else "", Span(step.command), "bold")
        yield Labelled("", step.why, "dim")


def interview_page(
    interview: Interview, diagnosis: Diagnosis, plan: str, steps: Sequence[NextCommand]
) -> doc.Document:
    """The diagnosis as a page, with the answers among the findings of its first problem."""
    from traindx.knowledge.questions import questions
    from traindx.report.diagnosis import document

    page = document([diagnosis])
    blocks, placed = _with_items(page.blocks, tuple(_answers(interview)))
    if not placed:
        blocks = (*blocks, *doc.listed("Diagnostic findings", _answers(interview), "card"))
    unknown = [questions()[name] for name, answer in interview.answers.items() if answer.unknown]
    find_out = [f"{question.short} {question.find_out}" for question in unknown]
    onward = (
        *doc.listed("Answers that do not fit together", interview.weighed.contradictions, "card"),
        *doc.listed("How to find out what is not known", find_out, "card"),
        *doc.listed("Your plan", _replies(plan, diagnosis), "card"),
        *doc.listed("Next", ((doc.code(step.command), f": {step.why}") for step in steps), "card"),
    )
    return replace(page, blocks=(*blocks, *onward))


def _with_items(blocks: Sequence[Block], items: tuple[doc.Prose, ...]) -> tuple[tuple[Block, ...], bool]:
    """The blocks with further items in their first section of findings, and whether there is one."""
    changed: list[Block] = []
    for number, block in enumerate(blocks):
        placed = False
        if isinstance(block, doc.Section) and str(block.title).lower().endswith("findings"):
            block, placed = replace(block, blocks=(doc.Items(items), *block.blocks)), True
        elif isinstance(block, doc.Section):
            inner, placed = _with_items(block.blocks, items)
            block = replace(block, blocks=inner)
        changed.append(block)
        if placed:
            return (*changed, *blocks[number + 1 :]), True
    return tuple(changed), False


def _answers(interview: Interview) -> Iterator[doc.Prose]:
    """Every question that was put, with its answer in the words in which it was understood."""
    from traindx.knowledge.questions import questions

    for name, answer in interview.answers.items():
        question = questions()[name]
        text = "; ".join(question.options[option].say for option in answer.options) or answer.text
        if answer.unknown:
            text = "not known"
        understood = f" (understood: {'; '.join(answer.observed)})" if answer.observed else ""
        yield (doc.strong(question.short), Span(f" {visible(text, _LONGEST)}{understood}"))


def _replies(plan: str, diagnosis: Diagnosis) -> Iterator[str]:
    """The replies to what was tried or is planned."""
    from traindx.interview.plans import reply, understood_plans

    for planned in understood_plans(plan) if plan.strip() else ():
        yield f"To {planned.say}: {reply(planned, diagnosis).text}"
