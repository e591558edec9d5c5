"""Run in a process of its own, as a file: what a framework says of itself, as one line of JSON."""

from __future__ import annotations

import json
import sys
import time


def torch_facts() -> dict[str, object]:
    start = time.perf_counter()
    import torch

    facts: dict[str, object] = {
        "seconds": time.perf_counter() - start,
        "version": torch.__version__,
        "cuda": torch.version.cuda,
        "hip": getattr(torch.version, "hip", None),
        "cuda_available": torch.cuda.is_available(),
        "mps": bool(getattr(torch.backends, "mps", None) and torch.backends.mps.is_available()),
        "threads": torch.get_num_threads(),
        "capability": torch.backends.cpu.get_cpu_capability(),
        "numpy": _numpy_works(torch),
        "openmp": _openmp(),
    }
    if facts["cuda_available"]:
        facts["devices"] = [_device(torch, number) for number in range(torch.cuda.device_count())]
    facts["speed"] = _speed(torch)
    return facts


def _numpy_works(torch: object) -> str:
    """Empty, or why tensors cannot become arrays: a numpy of another generation, usually."""
    try:
        torch.zeros(1).numpy()  # type: ignore[attr-defined]
    except Exception as error:
        return str(error)
    return ""


def _openmp() -> list[str]:
    """OpenMP libraries in this process."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
            paths = {line.split()[-1] for line in file if "omp" in line}
    except OSError:
        return []
    names = {path.rsplit("/", 1)[-1].split("-")[0].split(".")[0] for path in paths}
    return sorted(name for name in names if name in ("libgomp", "libiomp5", "libomp"))


def _device(torch: object, number: int) -> dict[str, object]:
    cuda = torch.cuda  # type: ignore[attr-defined]
    major, minor = cuda.get_device_capability(number)
    free, total = cuda.mem_get_info(number)
    built = cuda.get_arch_list()
    fits = not built or any(arch.endswith(f"_{major}{minor}") for arch in built)
    fits = fits or any(arch.split("_")[-1].rstrip("af").startswith(str(major)) for arch in built)
    return {"name": cuda.get_device_name(number), "free": free, "total": total, "fits": fits}


def _speed(torch: object) -> dict[str, float]:
    """GFLOP/s of a product of matrices, with one thread and with all."""
    side = 768
    matrix = torch.ones(side, side)  # type: ignore[attr-defined]
    threads = torch.get_num_threads()  # type: ignore[attr-defined]

    def rate() -> float:
        best = float("inf")
        for _ in range(4):
            start = time.perf_counter()
            matrix @ matrix
            best = min(best, time.perf_counter() - start)
        return float(2 * side**3 / best / 1e9)

    everything = rate()
    torch.set_num_threads(1)  # type: ignore[attr-defined]
    return {"one": rate() if threads > 1 else everything, "all": everything}


def jax_facts() -> dict[str, object]:
    start = time.perf_counter()
    import jax

    devices = jax.devices()
    return {
        "seconds": time.perf_counter() - start,
        "version": jax.__version__,
        "platform": devices[0].platform,
        "count": len(devices),
    }


if __name__ == "__main__":
    # The folder of this file is not one to import from.
    sys.path.pop(0)
    try:
        found = {"torch": torch_facts, "jax": jax_facts}[sys.argv[1]]()
    except Exception as error:
        found = {"error": f"{type(error).__name__}: {error}".splitlines()[0]}
    print("\n" + json.dumps(found))
