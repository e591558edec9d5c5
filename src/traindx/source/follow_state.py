"""The state while a script is followed: the current place, and how much may still be followed."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from traindx.source.execution import NO_GRAD, Binding, BranchArm, CallEvent, Loop, Trace
from traindx.source.scopes import Scope
from traindx.source.script import Script
from traindx.source.values import Function, Instance, Made, Spot, Value, either

_DEEPEST = 24


class Exhausted(Exception):
    """The script is too long to follow."""


@dataclass(eq=False)
class Machine:
    """Loops, branches, contexts and functions around the current place, and the trace so far."""

    script: Script
    run_body: Callable[[Machine, Scope, ast.AST], Value]
    budget: int
    trace: Trace = field(default_factory=Trace)
    modules: dict[str, Scope] = field(default_factory=dict)
    loops: list[Loop] = field(default_factory=list)
    arms: list[BranchArm] = field(default_factory=list)
    contexts: list[str] = field(default_factory=list)
    functions: list[ast.AST] = field(default_factory=list)
    returns: list[list[Value]] = field(default_factory=list)
    yields: list[list[Value]] = field(default_factory=list)
    root: ast.AST | None = None
    handed: bool = False
    given_away: set[ast.AST] = field(default_factory=set)
    _set_under: dict[tuple[int, str], tuple[BranchArm, ...]] = field(default_factory=dict)
    _at: int = 0

    def spend(self) -> None:
        """Count one more piece of syntax."""
        self.budget -= 1
        if self.budget < 0:
            raise Exhausted

    def clock(self) -> int:
        self._at += 1
        return self._at

    def event(self, value: Made) -> Made:
        """Record a call and return it."""
        value.graded = not any(name in NO_GRAD for name in self.contexts)
        if value.spot is not None:
            self.trace.events.append(
                CallEvent(value, value.spot, *self._position(), tuple(self.functions), self.root, self.handed)
            )
        return value

    def binding(
        self,
        name: str,
        value: Value,
        spot: Spot,
        *,
        added: bool = False,
        owner: Value | None = None,
        before: Value | None = None,
    ) -> None:
        """Record that a name or attribute got a value."""
        self.trace.bindings.append(Binding(name, value, spot, *self._position(), added, owner, before))

    def _position(self) -> tuple[int, tuple[Loop, ...], tuple[BranchArm, ...], tuple[str, ...]]:
        return self.clock(), tuple(self.loops), tuple(self.arms), tuple(self.contexts)

    def set_attribute(self, instance: Instance, name: str, value: Value) -> None:
        """Set an attribute; under another branch than before it may be either."""
        key, arms = (id(instance), name), tuple(self.arms)
        old = instance.attributes.get(name)
        if old is not None and self._set_under.get(key, arms) != arms:
            value = either(value.spot, [old, value])
        else:
            self._set_under[key] = arms
        instance.attributes[name] = value

    def may_enter(self, function: Function) -> bool:
        """Whether a function may be followed: no endless recursion."""
        limit = 1 if function.owner is None else 3
        return len(self.functions) < _DEEPEST and self.functions.count(function.node) < limit

    @contextmanager
    def inside(self, loop: Loop) -> Iterator[None]:
        self.loops.append(loop)
        try:
            yield
        finally:
            self.loops.pop()

    @contextmanager
    def on_arm(self, node: ast.AST, way: int) -> Iterator[None]:
        length = len(self.arms)
        self.arms.append(BranchArm(node, way))
        try:
            yield
        finally:
            del self.arms[length:]

    @contextmanager
    def under(self, names: list[str]) -> Iterator[None]:
        length = len(self.contexts)
        self.contexts.extend(names)
        try:
            yield
        finally:
            del self.contexts[length:]
