"""Where Python is not run as written: `torch.compile`, `torch.jit.script`, `torch.func`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_TRANSFORMS = ("grad", "grad_and_value", "vjp", "jacrev", "functional_call")


def watch_compiled(watching: Watching) -> None:
    """Notice them: each takes something out of sight, and that is said."""
    patches = watching.patches

    def compiles(original: Callable[..., Any]) -> Callable[..., Any]:
        def compile(*args: Any, **kwargs: Any) -> Any:
            if watching.active:
                watching.guard("compile", watching.compiles)
            return original(*args, **kwargs)

        return compile

    def scripts(original: Callable[..., Any]) -> Callable[..., Any]:
        def script(*args: Any, **kwargs: Any) -> Any:
            with patches.aside():
                return original(*args, **kwargs)

        return script

    def transforms(original: Callable[..., Any]) -> Callable[..., Any]:
        def transform(*args: Any, **kwargs: Any) -> Any:
            if not torch.compiler.is_compiling():
                watching.functional = True
            return original(*args, **kwargs)

        return transform

    patches.replace(torch, "compile", compiles)
    patches.replace(torch.jit, "script", scripts)
    for name in _TRANSFORMS:
        patches.replace(torch.func, name, transforms)
