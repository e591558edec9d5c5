"""`backward` and `autograd.grad`: both end in one function of torch, which is replaced."""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import Variable, graph

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_CALL = "_execution_engine.run_backward("


_watching: Watching | None = None
_original: Callable[..., Any] = graph._engine_run_backward


def watch_backward(watching: Watching) -> None:
    """Every entry into the autograd engine, but not those from inside itself (checkpoints)."""
    global _watching

    def made(original: Callable[..., Any]) -> Callable[..., Any]:
        global _original
        _original = original
        with contextlib.suppress(Exception):
            _stand_in(_run, original)
        return _run

    _watching = watching
    watching.uncompiled += [_run, _trains]
    watching.patches.replace(torch.autograd, "_engine_run_backward", made)


# At the top of the module, and its call laid out like torch's: tracebacks underline it at the same place.
def _run(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
    watching = _watching
    if watching is None:
        return _original(t_outputs, *args, **kwargs)
    steps, taken, ours, accumulates = watching.steps, False, False, True
    if steps.quick.on:
        try:
            taken = steps.quick.backward_begins(t_outputs, kwargs)
        except Exception as error:
            watching.stop_counting(error)
    if not taken:
        if graph.log.isEnabledFor(logging.DEBUG):
            return _original(t_outputs, *args, **kwargs)
        accumulates = bool(kwargs.get("accumulate_grad", True))
        ours = watching.active and not steps.depth and not torch.compiler.is_compiling()
        ours = ours and (accumulates or _trains(args, watching)) and watching.mine()
    if ours:
        steps.accumulates = accumulates
        if not steps.optimizers.known and steps.hidden is None:
            watching.report(steps.by_hand.begins, (t_outputs, *args))
        watching.report(steps.backward_begins, t_outputs)
        if watching.recorder.stops:
            watching.check_stop()
        steps.depth += 1
    try:
        return Variable._execution_engine.run_backward(  # not the original: warnings count frames
            t_outputs, *args, **kwargs
        )
    finally:
        if taken:
            steps.quick.backward_ends()
        elif ours:
            steps.depth -= 1
            watching.report(steps.backward_ends, accumulates)


def _stand_in(run: Any, original: Any) -> None:
    """Let the frame of ours show as the one it stands for: warnings and tracebacks name its place."""
    code = original.__code__
    if run.__code__.co_filename == code.co_filename:
        return
    here, there = _line_of_call(run), _line_of_call(original)
    run.__code__ = run.__code__.replace(
        co_filename=code.co_filename,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_firstlineno=run.__code__.co_firstlineno + there - here,
    )


def _line_of_call(function: Any) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if _CALL in line)


def _trains(args: tuple[Any, ...], watching: Watching) -> bool:
    """Whether `autograd.grad` was asked for gradients of parameters, to be applied by hand.

    Gradients of inputs (an attack, a penalty) and those to be differentiated again are no step.
    """
    steps = watching.steps
    kind = torch.nn.Parameter if steps.built or steps.by_hand.modules else torch.Tensor
    differentiated_again = len(args) > 2 and bool(args[2])
    wanted = args[3] if len(args) > 3 else ()
    found = wanted if isinstance(wanted, tuple | list) else (wanted,)
    return not differentiated_again and any(isinstance(one, kind) and one.is_leaf for one in found)
