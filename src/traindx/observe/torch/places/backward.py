"""`backward` and `autograd.grad`: both end in one function of torch, which is replaced."""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections.abc import Callable
from typing import Any

import torch
from torch.autograd import Variable, graph

from traindx.observe.hooks.bus import Channel
from traindx.observe.torch.places.patches import Patches

_CALL = "_execution_engine.run_backward("

_event = Channel()
_original: Callable[..., Any] = graph._engine_run_backward


def backward(patches: Patches, event: Channel) -> None:
    """Every entry into the autograd engine, also those from inside itself (checkpoints)."""
    global _event

    def replaced(original: Callable[..., Any]) -> Callable[..., Any]:
        global _original
        _original = original
        with contextlib.suppress(Exception):
            _stand_in(engine, original)
        return engine

    _event = event
    patches.replace(torch.autograd, "_engine_run_backward", replaced)


# At the top of the module, and its call laid out like torch's: tracebacks underline it at the same place.
def engine(t_outputs: Any, *args: Any, **kwargs: Any) -> Any:
    ends: tuple[Callable[[Any], object], ...] = ()
    for begin in _event.calls:
        end = begin(t_outputs, args, kwargs)
        if end is not None:
            ends = (end, *ends)
    if not ends and graph.log.isEnabledFor(logging.DEBUG):
        return _original(t_outputs, *args, **kwargs)
    grads: Any = False
    try:
        grads = Variable._execution_engine.run_backward(  # not the original: warnings count frames
            t_outputs, *args, **kwargs
        )
        grads, result = grads or True, grads
        return result
    finally:
        for end in ends:  # with the gradients where they are returned, else True; False when it failed
            end(grads)


def _stand_in(run: Any, original: Any) -> None:
    """Let the frame of ours show as the one it stands for: warnings and tracebacks name its place."""
    code = original.__code__
    if run.__code__.co_filename == code.co_filename:
        return
    own_line, original_line = _line_of_call(run), _line_of_call(original)
    run.__code__ = run.__code__.replace(
        co_filename=code.co_filename,
        co_name=code.co_name,
        co_qualname=code.co_qualname,
        co_firstlineno=run.__code__.co_firstlineno + original_line - own_line,
    )


def _line_of_call(function: Any) -> int:
    lines, first = inspect.getsourcelines(function)
    return first + next(number for number, line in enumerate(lines) if _CALL in line)
