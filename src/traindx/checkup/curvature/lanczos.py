"""Ends of a symmetric matrix's spectrum and its trace, from products with vectors alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch

Product = Callable[[torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Spectrum:
    """Largest and smallest eigenvalue with their vectors; `errors` bound the distance to true eigenvalues."""

    largest: float
    smallest: float
    errors: tuple[float, float]
    vectors: tuple[torch.Tensor, torch.Tensor]
    steps: int


def lanczos(product: Product, size: int, steps: int, *, seed: int = 0) -> Spectrum:
    """Lanczos iteration with full reorthogonalisation."""
    generator = torch.Generator().manual_seed(seed)
    vector = torch.randn(size, generator=generator)
    basis = [vector / vector.norm()]
    diagonal: list[float] = []
    off_diagonal: list[float] = []
    for _ in range(min(steps, size)):
        image = product(basis[-1])
        diagonal.append(float(image @ basis[-1]))
        for _ in range(2):  # twice is enough against rounding
            for direction in basis:
                image = image - (image @ direction) * direction
        norm = float(image.norm())
        off_diagonal.append(norm)
        if norm <= 1e-6 * max(1e-30, max(map(abs, diagonal))):
            break
        basis.append(image / norm)
    count = len(diagonal)
    small = torch.diag(torch.tensor(diagonal, dtype=torch.float64))
    off = torch.tensor(off_diagonal[: count - 1], dtype=torch.float64)
    small += torch.diag(off, 1) + torch.diag(off, -1)
    values, vectors = torch.linalg.eigh(small)
    stacked = torch.stack(basis[:count])
    ends = [stacked.T @ vectors[:, at].float() for at in (-1, 0)]
    errors = tuple(abs(off_diagonal[-1] * float(vectors[-1, at])) for at in (-1, 0))
    return Spectrum(float(values[-1]), float(values[0]), (errors[0], errors[1]), (ends[0], ends[1]), count)


def trace(product: Product, size: int, draws: int, *, seed: int = 0) -> tuple[float, float]:
    """Hutchinson's estimate of the trace and its standard error."""
    generator = torch.Generator().manual_seed(seed)
    estimates = []
    for _ in range(draws):
        signs = torch.randint(0, 2, (size,), generator=generator).float() * 2 - 1
        estimates.append(float(signs @ product(signs)))
    mean = sum(estimates) / draws
    spread = math.sqrt(sum((estimate - mean) ** 2 for estimate in estimates) / max(1, draws - 1))
    return mean, spread / math.sqrt(draws)
