"""Every function of JAX and optax that is replaced, at one place, and put back at the end."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.observe.import_hook import when_imported
from traindx.observe.jax import optimizers
from traindx.observe.jax.functions import compiled, is_ours, looped
from traindx.observe.jax.losses import KINDS, loss_fact
from traindx.observe.jax.pytrees import is_tracer, leaves
from traindx.observe.jax.tracing import frame

if TYPE_CHECKING:
    from traindx.observe.jax.process import JaxTraining

Wrapper = Callable[..., Any]


class JaxPatches:
    """What is replaced as soon as its module has been imported."""

    def __init__(self, training: JaxTraining) -> None:
        self.training = training

    def install(self, jax: Any) -> None:
        training = self.training
        theirs = jax.jit

        @functools.wraps(theirs)
        def jit(*functions: Any, **options: Any) -> Any:
            if not functions:
                return functools.partial(jit, **options)
            if (
                not training.active
                or len(functions) > 1
                or not callable(functions[0])
                or not is_ours(functions[0])
            ):
                return theirs(*functions, **options)
            return compiled(training, theirs, functions[0], options)

        self._replace(jax, "jit", jit)
        self._replace(jax, "value_and_grad", self._differentiating(jax.value_and_grad, with_value=True))
        self._replace(jax, "grad", self._differentiating(jax.grad, with_value=False))
        self._replace(jax.lax, "scan", looped(training, jax.lax.scan))
        when_imported("jax.nn", self._probabilities)
        when_imported("optax", self._optax)
        when_imported("equinox", self._equinox)

    def _replace(self, module: Any, name: str, new: Any) -> None:
        old = getattr(module, name)
        setattr(module, name, new)

        def put_back() -> None:
            if getattr(module, name, None) is new:
                setattr(module, name, old)

        self.training.removals.append(put_back)

    def _note_calls(self, module: Any, name: str, note: Callable[..., None]) -> None:
        """Call `note(result, *args, **kwargs)` after each call of a function."""
        old = getattr(module, name, None)
        if old is None:
            return
        training = self.training

        @functools.wraps(old)
        def observed(*args: Any, **kwargs: Any) -> Any:
            result = old(*args, **kwargs)
            if training.active:
                training.guard("tracing", note, result, *args, **kwargs)
            return result

        self._replace(module, name, observed)

    def _differentiating(self, theirs: Callable[..., Any], *, with_value: bool) -> Callable[..., Any]:
        training = self.training
        signature = inspect.signature(theirs)

        @functools.wraps(theirs)
        def transform(*args: Any, **kwargs: Any) -> Any:
            function = theirs(*args, **kwargs)
            bound = signature.bind_partial(*args, **kwargs).arguments
            argnums, aux = bound.get("argnums", 0), bool(bound.get("has_aux", False))

            @functools.wraps(function)
            def observed(*values: Any, **keywords: Any) -> Any:
                result = function(*values, **keywords)
                if training.active:
                    training.guard(
                        "tracing",
                        _differentiated,
                        training,
                        argnums,
                        aux,
                        with_value,
                        values,
                        keywords,
                        result,
                    )
                return result

            return observed

        return transform

    def _probabilities(self, module: Any) -> None:
        def note(result: Any, *args: Any, **kwargs: Any) -> None:
            del args, kwargs
            open_frame = frame()
            if open_frame is not None:
                open_frame.probabilities(result)

        for name in ("softmax", "sigmoid"):
            self._note_calls(module, name, note)

    def _optax(self, optax: Any) -> None:
        self._note_calls(optax, "apply_updates", _applied)
        for name in optimizers.FACTORIES:
            if hasattr(optax, name):
                self._replace(optax, name, optimizers.noted(self.training, name, getattr(optax, name)))
        for module in (optax, getattr(optax, "losses", None)):
            for name in KINDS:
                if module is not None and hasattr(module, name):
                    self._note_calls(module, name, functools.partial(_compared, name))

    def _equinox(self, equinox: Any) -> None:
        self._note_calls(equinox, "apply_updates", _applied)


def _applied(result: Any, params: Any, updates: Any, *rest: Any) -> None:
    del updates, rest
    open_frame = frame()
    if open_frame is not None:
        open_frame.applied(params, result)


def _compared(name: str, result: Any, *args: Any, **kwargs: Any) -> None:
    del result
    open_frame = frame()
    operands = list(args) + list(kwargs.values())
    if open_frame is not None and len(operands) > 1:
        open_frame.loss_call(loss_fact(name, operands[0], operands[1]), operands[0], operands[1])


def _differentiated(
    training: JaxTraining, argnums: Any, aux: bool, with_value: bool, values: Any, keywords: Any, result: Any
) -> None:
    weights = values[argnums] if isinstance(argnums, int) else tuple(values[n] for n in argnums)
    if with_value:
        value, gradients = result[0][0] if aux else result[0], result[1]
    else:
        value, gradients = None, result[0] if aux else result
    open_frame = frame()
    if open_frame is not None:
        open_frame.differentiated(weights, value, gradients)
    elif training.top_level() and not any(is_tracer(leaf) for leaf in leaves(weights)):
        training.eager(weights, value, gradients, (values, keywords))
