"""The training loops of a script: what one iteration does, in order."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cached_property

from traindx.source.execution import Binding, CallEvent, Loop, Trace
from traindx.source.flow import parts
from traindx.source.jax import differentiates
from traindx.source.optimizer_sources import flat, known_parameters, sources
from traindx.source.roles import LossCall, is_module, is_optimizer, is_scaler, is_scheduler, loss_call
from traindx.source.script import Script
from traindx.source.tapes import TapeStep, loss_calls, tape_steps
from traindx.source.trainers import is_lightning, is_transformers
from traindx.source.values import Const, Made, Value, options, parents

# What may be done with an optimizer without touching gradients.
_HARMLESS = frozenset(
    """
    print len isinstance hasattr getattr setattr type id str repr prepare setup state_dict append torch.save
    super super.__init__ step unscale_ update load_state_dict list tuple dict
    """.split()
)


@dataclass(frozen=True, eq=False)
class Step:
    """An optimizer's step; `optimizers` are those it may be (empty when not even one is known)."""

    event: CallEvent
    optimizers: tuple[Value, ...]
    scaler: Value | None = None


@dataclass(frozen=True, eq=False)
class Zero:
    """Gradients set to zero or None: those of `owner`, of anything when it is None."""

    at: int
    loops: tuple[Loop, ...]
    arms: tuple[object, ...]
    owner: Value | None
    event: CallEvent | Binding


@dataclass(frozen=True, eq=False)
class Iteration:
    """The innermost loop that holds both a backward pass and a step of one optimizer."""

    loop: Loop
    step: Step
    backwards: tuple[CallEvent, ...]
    zeros: tuple[Zero, ...]

    @property
    def managed(self) -> bool:
        """Whether a framework runs the loop: then it is all on the line that starts the training."""
        return self.step.event.spot.node is self.loop.spot.node


class Training:
    """What the trace of a script shows of its training."""

    def __init__(self, script: Script, trace: Trace) -> None:
        self.script = script
        self.trace = trace

    @cached_property
    def managed(self) -> bool:
        """Whether a framework runs the loop: it zeroes, steps and switches modes itself."""
        calls = (e.value for e in self.trace.events if e.value.kind in ("call", "method"))
        return any(
            is_lightning(call) or is_transformers(call) or call.name == "lightning.Fabric" for call in calls
        ) or any(is_transformers(instance) for instance in self.trace.instances)

    @property
    def present(self) -> bool:
        """Whether there is a training to check at all: a loop of its own, or one that a framework runs."""
        by_hand = self.managed or self.backwards or self.steps or self.tapes or differentiates(self.script)
        return bool(by_hand or self.trace.methods("fit", "compile", "train_on_batch"))

    @cached_property
    def tapes(self) -> tuple[TapeStep, ...]:
        """Gradients taken from a `tf.GradientTape`."""
        return tuple(tape_steps(self.trace))

    @cached_property
    def losses_elsewhere(self) -> tuple[LossCall, ...]:
        """Every call of a loss function of Keras, TensorFlow or optax."""
        return tuple(loss_calls(self.trace))

    @cached_property
    def backwards(self) -> tuple[CallEvent, ...]:
        """Backward passes, also through a scaler or an accelerator."""
        events = [
            *self.trace.methods("backward", "manual_backward"),
            *self.trace.named("torch.autograd.backward"),
        ]
        return tuple(sorted(events, key=lambda event: event.at))

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """Steps of optimizers, also through a scaler."""
        steps = []
        for event in self.trace.methods("step"):
            receiver = event.value.receiver
            first = event.value.argument(0, "optimizer")
            if is_scaler(receiver) and first is not None:
                steps.append(Step(event, self._optimizers(first), receiver))
            elif is_optimizer(receiver) and not is_scheduler(receiver):
                steps.append(Step(event, self._optimizers(receiver)))
        return tuple(steps)

    def _optimizers(self, value: Value | None) -> tuple[Value, ...]:
        return tuple(option for option in options(value) if is_optimizer(option))

    @cached_property
    def manual_updates(self) -> tuple[CallEvent, ...]:
        """Parameters changed in place by hand: `p.data.add_(p.grad, alpha=-lr)`."""
        changed = self.trace.methods("add_", "sub_", "addcdiv_")
        return tuple(e for e in changed if any(_mentions_grad(arg) for arg in e.value.args))

    @cached_property
    def scheduler_steps(self) -> tuple[CallEvent, ...]:
        return tuple(
            e
            for e in self.trace.methods("step", "step_update")
            if is_scheduler(e.value.receiver) and not _made_optimizer(e.value.receiver)
        )

    @cached_property
    def zeros(self) -> tuple[Zero, ...]:
        """Everything that clears gradients."""
        zeros = [Zero(e.at, e.loops, e.arms, e.value.receiver, e) for e in self.trace.methods("zero_grad")]
        zeros += [
            Zero(e.at, e.loops, e.arms, None, e)
            for e in self.trace.methods("zero_", "fill_", "detach_")
            if _of_grad(e.value.receiver)
        ]
        zeros += [
            Zero(b.at, b.loops, b.arms, None, b)
            for b in self.trace.bindings
            if b.name == "grad" and b.owner is not None and _is_nothing(b.value)
        ]
        return tuple(sorted(zeros, key=lambda zero: zero.at))

    @cached_property
    def made_gradients(self) -> tuple[CallEvent | Binding, ...]:
        """Gradients that come in another way than by a backward pass."""
        assigned = (b for b in self.trace.bindings if b.name == "grad" and not _is_nothing(b.value))
        return (*assigned, *self.trace.named("torch.autograd.grad", "torch.func.grad"))

    @cached_property
    def iterations(self) -> tuple[Iteration, ...]:
        """One per step that is in a loop with a backward pass."""
        iterations = []
        for step in self.steps:
            for loop in reversed(step.event.loops):
                inner = tuple(b for b in self.backwards if loop in b.loops)
                if inner:
                    zeros = tuple(z for z in self.zeros if loop in z.loops and clears(z, step))
                    iterations.append(Iteration(loop, step, inner, zeros))
                    break
        return tuple(iterations)

    @cached_property
    def main(self) -> Iteration | None:
        """The loop that trains: the first that is the script's own."""
        own_iterations = [iteration for iteration in self.iterations if iteration.step.event.root is None]
        return next(iter([*own_iterations, *self.iterations]), None)

    def in_main_loop(self, event: CallEvent | Binding) -> bool:
        """Whether something happens in the loop that trains; False where there is none."""
        return self.main is not None and self.main.loop in event.loops

    @cached_property
    def losses(self) -> tuple[LossCall, ...]:
        """Every call of a loss function of PyTorch."""
        calls = (loss_call(event) for event in self.trace.events)
        return tuple(call for call in calls if call is not None)

    @cached_property
    def trained_losses(self) -> list[LossCall]:
        """Those that the training loop computes with gradients."""
        inner = [x for x in self.losses if self.main is None or self.in_main_loop(x.event)]
        return [x for x in inner if not x.event.grad_off]

    def followed(self, name: str) -> bool:
        """Whether every call of a method in the script was reached."""
        reached = {event.spot.node for event in self.trace.events}
        for source in self.script.sources[:1]:
            for node in ast.walk(source.tree):
                is_method_call = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
                if is_method_call and node.func.attr == name and node not in reached:  # type: ignore[attr-defined]
                    return False
        return True

    def given_away(self, value: Value, loop: Loop) -> bool:
        """Whether a value is handed to something unknown inside a loop."""
        for event in self.trace.events:
            call = event.value
            if loop in event.loops and call.name not in _HARMLESS and not is_scheduler(call):
                arguments = [part for arg in [*call.args, *call.keywords.values()] for part in flat(arg)]
                if any(argument is value for argument in arguments):
                    return True
        return False


def _is_nothing(value: Value) -> bool:
    if isinstance(value, Const):
        return value.value is None or value.value == 0
    return isinstance(value, Made) and value.short in ("zeros_like", "zeros")


def _made_optimizer(value: Value | None) -> bool:
    return isinstance(value, Made) and value.kind == "call" and is_optimizer(value)


def _mentions_grad(value: Value, depth: int = 4) -> bool:
    if isinstance(value, Made) and value.kind == "attribute" and value.name == "grad":
        return True
    return depth > 0 and any(_mentions_grad(parent, depth - 1) for parent in parents(value))


def _of_grad(value: Value | None) -> bool:
    """Whether a value is somebody's `.grad`, or its `.data`, detached or not."""
    for _ in range(4):
        if not isinstance(value, Made):
            return False
        if value.kind == "attribute" and value.name == "grad":
            return True
        value = value.receiver
    return False


def clears(zero: Zero, step: Step) -> bool:
    """Whether clearing may concern the parameters of a step: not if it is another optimizer's."""
    owners = [owner for owner in options(zero.owner) if is_optimizer(owner)]
    if zero.owner is None or len(owners) < len(options(zero.owner)):
        return not _strangers(options(zero.owner), step)
    certain = [
        optimizer
        for optimizer in (*owners, *step.optimizers)
        if isinstance(optimizer, Made) and optimizer.kind == "call"
    ]
    if len(certain) < len(owners) + len(step.optimizers) or not step.optimizers:
        return True
    return any(owner is optimizer for owner in owners for optimizer in step.optimizers) or _shared(
        owners, step.optimizers
    )


def _strangers(modules: list[Value], step: Step) -> bool:
    """Whether modules surely share no parameter with the optimizers of a step."""
    if not modules or not step.optimizers or not all(is_module(module) for module in modules):
        return False
    if not all(known_parameters(optimizer) for optimizer in step.optimizers):
        return False
    step_modules = [module for optimizer in step.optimizers for module in sources(optimizer)]
    if not all(is_module(module) for module in step_modules):
        return False
    own_parts = {id(part) for module in modules for part in (module, *parts(module)) if is_module(part)}
    step_parts = {id(part) for module in step_modules for part in (module, *parts(module)) if is_module(part)}
    return not own_parts & step_parts


def _shared(owners: list[Value], step_optimizers: tuple[Value, ...]) -> bool:
    """Two optimizers over the same parameters clear for each other."""
    return bool(
        {id(source) for owner in owners for source in sources(owner)}
        & {id(s) for o in step_optimizers for s in sources(o)}
    )
