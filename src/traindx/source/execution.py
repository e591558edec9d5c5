"""What a script would do, in order: its calls with the loops, branches and contexts around them."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

from traindx.source.values import Class, Instance, Made, Spot, Value


@dataclass(frozen=True, eq=False)
class Loop:
    """A loop as it was entered once; a function that is called twice enters its loop twice."""

    spot: Spot
    over: Value | None
    at: int


@dataclass(frozen=True)
class BranchArm:
    """One way of a branch."""

    node: ast.AST
    way: int


@dataclass(frozen=True, eq=False)
class CallEvent:
    """A call the script makes.

    `loops` and `arms` are those around it, the outermost first, also around the functions it was reached
    through (`functions`); `contexts` the `with` blocks and decorators around it by name. `root` is the
    function that was followed by itself because nothing calls it; None is the script's own run.
    `handed` is true in functions that the script gives away to be called: hooks, closures, workers.
    """

    value: Made
    spot: Spot
    at: int
    loops: tuple[Loop, ...]
    arms: tuple[BranchArm, ...]
    contexts: tuple[str, ...]
    functions: tuple[ast.AST, ...]
    root: ast.AST | None
    handed: bool

    @property
    def loop(self) -> Loop | None:
        return self.loops[-1] if self.loops else None

    @property
    def grad_off(self) -> bool:
        """Whether gradients are not recorded here."""
        return any(name in NO_GRAD for name in self.contexts)


NO_GRAD = frozenset(
    """
    torch.no_grad torch.inference_mode torch.set_grad_enabled(False) torch.autograd.no_grad
    torch.autograd.inference_mode torch.autograd.grad_mode.no_grad torch.autograd.grad_mode.inference_mode
    """.split()
)


@dataclass(frozen=True, eq=False)
class Binding:
    """A name or attribute that was given a value; `added` for `+=`."""

    name: str
    value: Value
    spot: Spot
    at: int
    loops: tuple[Loop, ...]
    arms: tuple[BranchArm, ...]
    contexts: tuple[str, ...]
    added: bool = False
    owner: Value | None = None
    before: Value | None = None


@dataclass(eq=False)
class Trace:
    """Everything met while following a script; `complete` unless it grew too large."""

    events: list[CallEvent] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    instances: list[Instance] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    visited: set[ast.AST] = field(default_factory=set)
    complete: bool = True

    @property
    def calls(self) -> list[CallEvent]:
        """Calls of library functions and of classes."""
        return [e for e in self.events if e.value.kind == "call"]

    def named(self, *names: str) -> list[CallEvent]:
        """Calls of library functions and classes by their full dotted names."""
        return [e for e in self.calls if e.value.name in names]

    def methods(self, *names: str) -> list[CallEvent]:
        """Calls of methods by name, whatever their object."""
        return [e for e in self.events if e.value.kind == "method" and e.value.name in names]
