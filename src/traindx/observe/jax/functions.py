"""Functions that JAX compiles: noted while they are traced, called as before, seen from outside of a call."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from traindx.observe.clock import perf_counter
from traindx.observe.jax.pytrees import leaves, reach
from traindx.observe.jax.tracing import Frame, Notes, frame, traced

if TYPE_CHECKING:
    from traindx.observe.jax.process import JaxTraining

_MARK = "__traindx_traced__"
_KEPT = ("lower", "trace", "eval_shape", "clear_cache", "_cache_size", "_clear_cache", "_fun", "_jit_info")
# Keras on JAX is seen by its own probes, which compile functions, too.
_OTHERS = ("keras.", "jax.", "optax.", "traindx.")


def is_ours(function: Any) -> bool:
    """Whether calls of a function may be a training's."""
    return not str(getattr(function, "__module__", "") or "").startswith(_OTHERS)


class Traced:
    """Notes of the last time that a function was traced."""

    def __init__(self, training: JaxTraining) -> None:
        self.training = training
        self.notes: Notes | None = None


def watched(training: JaxTraining, function: Any) -> tuple[Callable[..., Any], Traced]:
    """The function with its tracing noted; the same one each time, as JAX remembers traces by function."""
    cached = getattr(function, "__dict__", {}).get(_MARK)
    if cached is not None and cached[0].__wrapped__ is function and cached[1].training is training:
        return cached[0], cached[1]
    trace = Traced(training)

    @functools.wraps(function)
    def observed(*args: Any, **kwargs: Any) -> Any:
        if not training.active:
            return function(*args, **kwargs)
        with traced((args, kwargs)) as open_frame:
            result = function(*args, **kwargs)
        training.guard("tracing", lambda: setattr(trace, "notes", open_frame.close(result)))
        return result

    if hasattr(function, "__code__") and hasattr(function, "__dict__"):
        setattr(function, _MARK, (observed, trace))
    return observed, trace


def compiled(training: JaxTraining, jit: Callable[..., Any], function: Any, options: dict[str, Any]) -> Any:
    """A compiled function whose calls are seen; everything else about it is as JAX made it."""
    inside, trace = watched(training, function)
    theirs = jit(inside, **options)
    clean = training.top_level

    @functools.wraps(theirs)
    def call(*args: Any, **kwargs: Any) -> Any:
        notes = trace.notes
        if (notes is not None and not notes.trains) or not training.active:
            training.steps.paused()
            return theirs(*args, **kwargs)
        if not clean():
            result = theirs(*args, **kwargs)
            outer = frame()
            if outer is not None and trace.notes is not None:
                training.guard("tracing", _pass_on, outer, trace.notes, (args, kwargs), result)
            return result
        began = perf_counter()
        state_before = training.begins(call, notes, args, kwargs)
        result = theirs(*args, **kwargs)
        if trace.notes is not None and trace.notes.trains:
            if trace.notes is not notes:
                training.guard("graph", _read_graph, training, theirs, trace.notes, args, kwargs)
            training.stepped(
                call, trace.notes, (args, kwargs), result, began, state_before, trace.notes is not notes
            )
        elif trace.notes is not None:
            training.steps.paused()
        return result

    for name in _KEPT:
        if hasattr(theirs, name):
            setattr(call, name, getattr(theirs, name))
    return call


def _read_graph(training: JaxTraining, theirs: Any, notes: Notes, args: Any, kwargs: Any) -> None:
    """JAX remembers what it traced just now: nothing runs again."""
    training.steps.facts.graph(theirs.trace(*args, **kwargs).jaxpr, notes)


def _pass_on(outer: Frame, notes: Notes, arguments: Any, result: Any, times: int = 1) -> None:
    """A function inside another one, compiled or in a loop: what it showed is so for the outer one, too."""
    if not notes.trains:
        return
    argument_leaves, out = leaves(arguments), leaves(result)
    weights = [argument_leaves[place] for place in notes.weights]
    gradients = [out[notes.gradients[n]] if n in notes.gradients else None for n in range(len(weights))]
    loss = reach(result, notes.loss) if notes.loss is not None else None
    outer.differentiated(weights, loss, gradients, notes.names)
    outer.applied([weights[n] for n in notes.updated], [out[place] for place in notes.updated.values()])
    for moment, places in notes.moments.items():
        pairs = [([(moment,), argument_leaves[old]], [(moment,), out[new]]) for old, new in places.values()]
        outer.state([tuple(before) for before, _ in pairs], [tuple(after) for _, after in pairs])
    outer.notes.optimizers += [fact for fact in notes.optimizers if fact not in outer.notes.optimizers]
    outer.notes.loss_calls += notes.loss_calls
    outer.notes.repeats *= times * notes.repeats


def looped(training: JaxTraining, scan: Callable[..., Any]) -> Callable[..., Any]:
    """`jax.lax.scan`: the steps of a loop that is compiled as a whole."""

    @functools.wraps(scan)
    def observed(f: Any, init: Any, xs: Any = None, length: int | None = None, **options: Any) -> Any:
        if not training.active or not is_ours(f):
            return scan(f, init, xs, length, **options)
        inside, trace = watched(training, f)
        outer, top = frame(), training.top_level()
        began = perf_counter()
        result = scan(inside, init, xs, length, **options)
        if trace.notes is not None and trace.notes.trains:
            scanned = leaves(xs)
            times = int(scanned[0].shape[0]) if scanned else int(length or 1)
            if outer is not None:
                training.guard("tracing", _pass_on, outer, trace.notes, (init, xs), result, times)
            elif top:
                notes = replace(trace.notes, repeats=times * trace.notes.repeats, batch=[], target=None)
                training.stepped(f, notes, ((init, xs), {}), result, began, None, True)
        return result

    return observed
