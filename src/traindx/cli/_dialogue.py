"""The interview as a conversation, line by line: on a terminal, over a pipe, in a pseudo-terminal."""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from traindx.cli._output import print_lines
from traindx.report.document import Labelled
from traindx.report.interview import menu_lines, question_lines, ranking_line
from traindx.report.text import visible
from traindx.report.to_terminal import lines, wrap

if TYPE_CHECKING:
    from traindx.interview.complaint import Understood
    from traindx.interview.next_question import QuestionChoice
    from traindx.interview.session import Interview
    from traindx.report.layout import Screen

_HINT = "Answer by number or in words. ? is don't know, b goes back, q ends the questions."
_BACK = frozenset({"b", "back"})
_ENOUGH = frozenset({"q", "quit", "enough", "done"})
_YES = frozenset({"", "y", "yes", "1", "ok", "right"})
_TRIES = 50


class _Back(Exception):
    """Somebody wants to change an earlier answer."""


class _Enough(Exception):
    """Somebody wants no further question."""


class Dialogue:
    """Asks until nothing is left to ask. KeyboardInterrupt and EOFError go up; the answers so far stay."""

    def __init__(self, interview: Interview, screen: Screen, save: Callable[[], None]) -> None:
        self._interview = interview
        self._screen = screen
        self._save = save
        self._before: dict[str, str] = {}
        self._plans = ""
        if isinstance(sys.stdin, io.TextIOWrapper):
            with contextlib.suppress(OSError, ValueError, LookupError):
                sys.stdin.reconfigure(errors="replace")

    def talk(self, plan: str = "") -> str:
        """The whole interview; what somebody plans to try is given back."""
        self._say([self._screen.paint(_HINT, "dim")])
        with contextlib.suppress(_Enough):
            if not self._interview.symptoms:
                self._complaint()
            self._questions()
        return plan or self._plans or self._plan()

    def _complaint(self) -> None:
        """What goes wrong; with a log the answer may be left out."""
        from traindx.interview.complaint import menu

        symptoms_seen = self._seen_already()
        title = "What else goes wrong? (Enter for nothing else)" if symptoms_seen else "What goes wrong?"
        says = [symptom.statement for symptom in menu()] + ["something else: say it in words"]
        self._say(
            ["", *symptoms_seen, self._screen.paint(f"{title} Several numbers, or your own words.", "bold")]
        )
        self._say(menu_lines(says, self._screen))
        for _ in range(_TRIES):
            try:
                text = self._read()
            except _Back:
                self._note("there is nothing before this.")
                continue
            if not text and symptoms_seen:
                return
            if self._reported(text, len(says)):
                self._save()
                return
        raise EOFError

    def _seen_already(self) -> list[str]:
        from traindx.interview.next_question import differentials
        from traindx.knowledge.catalogue import symptoms

        seen_symptoms = [s for problem in differentials(self._interview.weighed) for s in problem.symptoms]
        if not seen_symptoms:
            return ["Nothing is seen in it by itself.", ""] if self._interview.base.run.series else []
        titles = ", ".join(symptoms()[name].statement.lower() for name in dict.fromkeys(seen_symptoms))
        return [*wrap(f"Seen already: {titles}.", self._screen.width, self._screen), ""]

    def _reported(self, text: str, other_choice: int) -> bool:
        """Take what goes wrong, in numbers or words; whether it was understood."""
        from traindx.interview.answers import NotUnderstood
        from traindx.interview.complaint import understand

        if text == "?":
            self._interview.set_symptoms(("silent_defect",))
            return True
        numbers = text.replace(",", " ").split()
        described = str(other_choice) in numbers
        chosen = understand(" ".join(n for n in numbers if n != str(other_choice)) if described else text)
        understood = understand(text := self._read("in words> ")) if described else chosen
        if understood.guessed and not self._confirmed(understood):
            return False
        if not understood.symptoms or understood.left:
            self._refused(understood, other_choice)
            return False
        if understood.guessed:
            try:
                self._interview.answer("description", text)
            except NotUnderstood as error:
                self._note(str(error))
                return False
        self._plans = text if understood.plans else self._plans
        self._interview.set_symptoms((*(chosen.symptoms if described else ()), *understood.symptoms))
        return True

    def _confirmed(self, understood: Understood) -> bool:
        from traindx.knowledge.catalogue import symptoms

        statements = "; ".join(symptoms()[name].statement for name in understood.symptoms)
        self._note(f"understood: {statements}. ({visible('; '.join(understood.observed[:6]), 200)})")
        right = self._read("is that right? [Y/n] ").lower() in _YES
        if not right:
            self._note("then say it in other words, or by number.")
        return right

    def _refused(self, understood: Understood, other_choice: int) -> None:
        """What was understood and the nearest choices; a plan is answered with what to find out first."""
        from traindx.interview.complaint import not_understood
        from traindx.interview.plans import first_reply

        if understood.plans:
            self._plans = understood.left
            for plan in understood.plans:
                self._note(first_reply(plan, self._interview.diagnosis()))
            return
        problem = not_understood(understood) if understood.left else "nothing was said."
        self._note(f"{visible(problem, 400)} Give numbers from 1 to {other_choice}, or other words.")

    def _questions(self) -> None:
        while (choice := self._interview.next) is not None:
            number = len(self._interview.answers.keys() - {"description"}) + 1
            self._say(question_lines(choice, number, self._screen))
            before = len(self._interview.weighed.contradictions)
            try:
                is_answered = self._answer(choice)
            except _Back:
                self._go_back()
                continue
            self._save()
            for text in self._interview.weighed.contradictions[before:]:
                self._note(text)
            line = ranking_line(self._interview, self._screen)
            if is_answered and line:
                self._say([line])
        self._say(["", self._screen.paint(self._why_enough(), "dim")])

    def _why_enough(self) -> str:
        from traindx.interview.next_question import MOST, differentials

        problems = differentials(self._interview.weighed)
        if problems and all(problem.settled for problem in problems):
            return "Enough: one cause is clearly ahead."
        if len(self._interview.answers) >= MOST:
            return f"Enough: {MOST} questions."
        return "Enough: no further question would change the picture."

    def _answer(self, choice: QuestionChoice) -> bool:
        """Ask until it is understood; whether it was known."""
        from traindx.interview.answers import NotUnderstood

        question = choice.question
        old = self._before.get(question.id, "")
        for _ in range(_TRIES):
            text = self._pasted() if question.kind == "values" else self._read(_prompt(old))
            if not text and old:
                text = old
            try:
                answer = self._interview.answer(question.id, text)
            except NotUnderstood as error:
                self._note(str(error))
                continue
            if answer.unknown:
                self._say(lines([Labelled("find out", question.find_out)], self._screen))
            return not answer.unknown
        raise EOFError

    def _go_back(self) -> None:
        answer = self._interview.back()
        if answer is None or answer.question == "description":
            self._complaint()
            return
        self._before[answer.question] = answer.text
        self._note("back one question; Enter keeps the answer.")

    def _pasted(self) -> str:
        """Lines up to an empty one; a word to the interviewer counts in the first."""
        lines = [self._read()]
        while lines[-1] and lines[-1] != "?":
            try:
                lines.append(self._line("").strip())
            except EOFError:
                break
        return "\n".join(line for line in lines if line)

    def _plan(self) -> str:
        """What was tried or is planned; may be left out."""
        from traindx.interview.plans import plans, understood_plans

        if not self._interview.diagnosis().problems:
            return ""
        self._say(["", self._screen.paint("What have you tried, or plan to try? (Enter to skip)", "bold")])
        self._say(menu_lines([plan.say for plan in plans().values()], self._screen))
        try:
            text = self._read()
        except (_Back, _Enough, EOFError):
            return ""
        if text and not understood_plans(text):
            self._note("nothing is known of that plan; the diagnosis does not depend on it.")
            return ""
        return text

    def _read(self, prompt: str = "> ") -> str:
        text = self._line(prompt).strip()
        if text.lower() in _BACK:
            raise _Back
        if text.lower() in _ENOUGH:
            raise _Enough
        return text

    def _line(self, prompt: str) -> str:
        """One line of input; EOFError when there is no more."""
        if sys.stdin is None:
            raise EOFError
        sys.stdout.flush()
        if sys.stdin.isatty() and sys.stdout.isatty():
            with contextlib.suppress(ImportError):
                import readline  # noqa: F401  (input() then edits the line)
            return input(prompt)
        print_lines(prompt)
        sys.stdout.flush()
        text = sys.stdin.readline()
        if not text:
            raise EOFError
        return text

    def _note(self, text: str) -> None:
        self._say(lines([Labelled("", text, "yellow")], self._screen))

    def _say(self, lines: Iterable[str]) -> None:
        print_lines("\n".join(lines) + "\n")


def _prompt(old: str) -> str:
    return f"[{visible(old, 40)}] > " if old and "\n" not in old else "> "
