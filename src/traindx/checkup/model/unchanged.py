"""Whatever is measured inside of it, a model is as before afterwards, and so are all random streams."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def unchanged(model: Any) -> Iterator[None]:
    """Buffers, modes, gradients and random streams are put back; weights are never written to."""
    import numpy as np
    import torch

    modes = [(module, module.training) for module in model.modules()]
    buffers = [(buffer, buffer.detach().clone()) for buffer in model.buffers()]
    gradients = [(parameter, parameter.grad) for parameter in model.parameters()]
    for parameter, _ in gradients:
        parameter.grad = None  # what is measured has gradients of its own
    streams = (torch.get_rng_state(), random.getstate(), np.random.get_state())
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else None
    try:
        yield
    finally:
        with torch.no_grad():
            for buffer, saved in buffers:
                buffer.copy_(saved)
            for parameter, gradient in gradients:
                parameter.grad = gradient
        for module, training in modes:
            module.training = training
        torch.set_rng_state(streams[0])
        random.setstate(streams[1])
        np.random.set_state(streams[2])
        if devices is not None:
            torch.cuda.set_rng_state_all(devices)
