"""Every format gives the same rows for the same weights; damaged files are one line."""

from __future__ import annotations

import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import traindx
from traindx.checkup.weights.tensors import decoded


def weights() -> dict[str, torch.Tensor]:
    torch.manual_seed(0)
    return {"a.weight": torch.randn(24, 10), "a.bias": torch.randn(24), "b.weight": torch.randn(3, 24, 3, 3)}


def rows(path: Path) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in traindx.check(path).run.facts["weights"]}


def same(path: Path, expected: dict[str, torch.Tensor]) -> None:
    found = rows(path)
    assert set(found) == set(expected)
    for name, tensor in expected.items():
        row, values = found[name], tensor.double()
        assert row["shape"] == list(tensor.shape)
        assert row["norm"] == pytest.approx(float(values.norm()), rel=1e-6)
        assert row["mean"] == pytest.approx(float(values.mean()), abs=1e-7)
        assert row["std"] == pytest.approx(float(values.std(unbiased=False)), rel=1e-5)
        assert (row["min"], row["max"]) == (float(values.min()), float(values.max()))


def test_the_row_of_a_matrix_against_torch(tmp_path: Path) -> None:
    torch.manual_seed(1)
    matrix = torch.randn(40, 30)
    matrix[3] = 0.0
    matrix[5] = 2.0
    matrix[7] = matrix[8]
    torch.save({"w.weight": matrix}, tmp_path / "a.pt")
    row = rows(tmp_path / "a.pt")["w.weight"]
    assert (row["rows_zero"], row["rows_constant"], row["rows_equal"]) == (1, 1, 1)
    assert row["spectral_norm"] == pytest.approx(float(torch.linalg.matrix_norm(matrix, 2)), rel=0.03)
    assert row["gain"] == pytest.approx(float(matrix.pow(2).mean().sqrt() * 30**0.5), rel=1e-5)


def test_safetensors_and_half_precision(tmp_path: Path) -> None:
    half = {name: tensor.bfloat16() for name, tensor in weights().items()}
    save_file(half, tmp_path / "a.safetensors")
    same(tmp_path / "a.safetensors", half)


def test_a_sharded_folder(tmp_path: Path) -> None:
    one, other = dict(list(weights().items())[:2]), dict(list(weights().items())[2:])
    save_file(one, tmp_path / "model-1.safetensors")
    save_file(other, tmp_path / "model-2.safetensors")
    index = {name: f"model-{number}.safetensors" for number, part in ((1, one), (2, other)) for name in part}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": index}))
    same(tmp_path, weights())
    (tmp_path / "model-2.safetensors").unlink()
    with pytest.raises(ValueError, match=r"model-2\.safetensors, which is not there"):
        traindx.check(tmp_path)


@pytest.mark.filterwarnings("ignore")  # PyTorch says that it saves without a group of processes
def test_a_distributed_folder(tmp_path: Path) -> None:
    from torch.distributed import checkpoint

    checkpoint.save({"model": weights()}, checkpoint_id=tmp_path / "dcp", no_dist=True)
    same(tmp_path / "dcp", {f"model.{name}": tensor for name, tensor in weights().items()})
    (tmp_path / "dcp" / ".metadata").write_bytes(b"cos\nsystem\n(S'echo hacked'\ntR.")
    with pytest.raises(ValueError, match="more than records"):
        traindx.check(tmp_path / "dcp")


def test_hdf5_of_keras(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    values = np.random.default_rng(0).standard_normal((10, 24)).astype(np.float32)
    with h5py.File(tmp_path / "model.weights.h5", "w") as file:
        file["layers/dense/vars/0"], file["layers/dense/vars/1"] = values, np.ones(24, np.float32)
    same(tmp_path / "model.weights.h5", {"dense/kernel": torch.tensor(values), "dense/bias": torch.ones(24)})
    with zipfile.ZipFile(tmp_path / "model.keras", "w") as archive:
        archive.write(tmp_path / "model.weights.h5", "model.weights.h5")
    found = rows(tmp_path / "model.keras")["dense/kernel"]
    assert (found["fan_in"], found["rows"]) == (10, 24)


def _field(number: int, data: bytes | int) -> bytes:
    if isinstance(data, int):
        return bytes([number << 3, data])
    assert len(data) < 1 << 14
    return bytes([number << 3 | 2, len(data) & 0x7F | 0x80, len(data) >> 7]) + data


def test_initialisers_of_onnx(tmp_path: Path) -> None:
    tensor = weights()["a.weight"]
    proto = _field(1, 24) + _field(1, 10) + _field(2, 1) + _field(8, b"a.weight")
    proto += _field(9, tensor.numpy().tobytes())
    path = tmp_path / "model.onnx"
    path.write_bytes(_field(1, 8) + _field(7, _field(5, proto)))
    same(path, {"a.weight": tensor})
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(ValueError, match="cut off"):
        traindx.check(path)


def test_a_cut_off_and_an_inflated_archive(tmp_path: Path) -> None:
    torch.save(weights(), tmp_path / "a.pt")
    whole = (tmp_path / "a.pt").read_bytes()
    (tmp_path / "a.pt").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match="damaged or cut off"):
        traindx.check(tmp_path / "a.pt")
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"0" * 30_000_000)
    with pytest.raises(ValueError, match="many times its size"):
        traindx.check(tmp_path / "bomb.pt")


def test_eight_bit_floats_against_torch() -> None:
    for name in ("float8_e4m3fn", "float8_e5m2"):
        every = torch.arange(256, dtype=torch.uint8)
        expected = every.view(getattr(torch, name)).float().numpy()
        np.testing.assert_array_equal(decoded(every.numpy().tobytes(), name, (256,)), expected)
    packed = struct.pack("<4H", 0x3F80, 0x4000, 0xBF80, 0x7F80)
    np.testing.assert_array_equal(decoded(packed, "bfloat16", (4,)), [1.0, 2.0, -1.0, np.inf])
