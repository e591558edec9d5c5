"""`traindx run -m torch.distributed.run ... train.py`: the agent's workers run under traindx instead.

The same for `accelerate launch`.

The agent itself trains nothing and is not recorded.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
from dataclasses import replace

from traindx.observe.program import Program

_ACCELERATE = "accelerate.commands.launch"
_MODULES = ("torch.distributed.run", "torch.distributed.launch", _ACCELERATE)
_PROGRAMS = ("torchrun", "accelerate", "accelerate-launch")


def is_agent(program: Program) -> bool:
    if program.kind == "module":
        return program.name in _MODULES
    name = os.path.basename(program.name)
    starts = name != "accelerate" or program.args[:1] == ("launch",)
    return program.kind == "script" and name in _PROGRAMS and starts


def with_traindx(program: Program, options: tuple[str, ...]) -> Program | None:
    """The agent's command line with traindx in front of the user's script; None where it cannot be parsed."""
    args = list(program.args)
    try:
        at, module = _script_at(program, args)
    except (Exception, SystemExit):
        return None
    agent_args = args[:at]
    if module:
        agent_args = [word for word in agent_args if word not in ("-m", "--module")]
    target = ["-m", args[at]] if module else [args[at]]
    return replace(program, args=(*agent_args, "-m", "traindx", "run", *options, *target, *args[at + 1 :]))


def _script_at(program: Program, args: list[str]) -> tuple[int, bool]:
    """The position of the user's script among the agent's arguments, and whether it is a module."""
    modules_before = set(sys.modules)
    of_accelerate = "accelerate" in program.name
    name = _ACCELERATE if of_accelerate else "torch.distributed.run"
    run = importlib.import_module(name)
    parser = run.launch_command_parser() if of_accelerate else run.get_args_parser()
    launch_args = args[1:] if program.kind == "script" and args[:1] == ["launch"] else args
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        parsed = parser.parse_args(launch_args)
    if name not in modules_before:
        # Python warns when it runs a module that has been imported before.
        del sys.modules[name]
    at = len(args) - len(parsed.training_script_args) - 1
    if parsed.no_python or args[at] != parsed.training_script:
        raise ValueError("the agent starts something other than a Python program")
    return at, bool(parsed.module)
