"""What to do after the interview: the command that takes the diagnosis further, the line to log."""

from __future__ import annotations

import shlex
from collections.abc import Set
from dataclasses import dataclass

from traindx.core.nouns import Diagnosis
from traindx.interview.session import Interview
from traindx.knowledge.catalogue import causes, symptoms

_SURE = 0.5


@dataclass(frozen=True)
class NextCommand:
    """A command (or a line of code), and what it is for."""

    command: str
    why: str


def steps_onward(
    interview: Interview, diagnosis: Diagnosis, commands: Set[str], script: str
) -> list[NextCommand]:
    """The two or three most useful things to do next, of the commands there are."""
    case = interview.weighed.case
    script = shlex.quote(script)
    first = next((problem for problem in diagnosis.problems if problem.hypotheses), None)
    if first is None:
        return _without_problem(interview, commands, script)
    top = first.hypotheses[0]
    sure = top.confidence >= _SURE
    recorded = case.inside.recorded
    suspects = "".join(f" --suspect {shlex.quote(suspicion.text)}" for suspicion in interview.suspicions)
    offers = [
        (
            "confirm",
            f"traindx confirm{suspects} {shlex.quote(case.run.path) if recorded else script}",
            "tests what you suspect",
            bool(suspects),
        ),
        ("lint", f"traindx lint {script}", "reads the script without running it", case.script is None),
        (
            "lr-find",
            f"traindx lr-find {script}",
            "finds the range of rates that work",
            "lr-find" in causes()[top.cause].commands,
        ),
        (
            "preflight",
            f"traindx preflight {script}",
            "checks data, loss, gradients and one overfitted batch in a minute",
            not sure and symptoms()[first.symptom].kind == "stuck",
        ),
        (
            "run",
            f"traindx run {script}",
            "records gradients, activations, data and times, and diagnoses them",
            not recorded,
        ),
        (
            "confirm",
            f"traindx confirm {shlex.quote(case.run.path)}",
            "runs the cheapest experiment that separates the leading causes",
            recorded and not sure and not suspects,
        ),
        (
            "treat",
            f"traindx treat {script}",
            f"tries the remedies for {top.title.lower()} and proves one",
            sure,
        ),
    ]
    next_commands = [
        NextCommand(command, why) for name, command, why, fit in offers if fit and name in commands
    ]
    line = log_line(interview)
    return [*next_commands[:3], *([line] if line and not recorded else [])]


def _without_problem(interview: Interview, commands: Set[str], script: str) -> list[NextCommand]:
    if interview.weighed.case.inside.recorded or "run" not in commands:
        return []
    return [NextCommand(f"traindx run {script}", "records what nobody can see from outside")]


def log_line(interview: Interview) -> NextCommand | None:
    """The log line that would enable most checks; None when the log has it all."""
    case = interview.weighed.case
    fields = {
        "loss": "loss {loss.item():.5g}",
        "lr": "lr {optimizer.param_groups[0]['lr']:.3g}",
        "grad_norm": "grad_norm {norm:.4g}",
    }
    missing = [name for name in fields if not case.has(name)]
    if not missing:
        return None
    text = " ".join(["step {step}", *fields.values()])
    norm = (
        "norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float('inf')); "
        if "grad_norm" in missing
        else ""
    )
    return NextCommand(
        f'{norm}print(f"{text}")', "before optimizer.step(): the log line that enables most checks"
    )
