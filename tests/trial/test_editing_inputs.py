"""Inputs are normalised where the script holds them: tensors, arrays, tables, data sets of its own."""

from __future__ import annotations

import pytest

from traindx.experiment.edit import Edited, Instruction
from traindx.source.edits import edited

from .test_editing import edit

HEAD = """\
import numpy as np
import pandas as pd
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, TensorDataset
df = pd.read_csv("a.csv")
columns = ["a", "b"]
"""
MODEL = "model = nn.Linear(2, 1)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
LOADERS = """\
for xb, yb in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(xb), yb).backward()
    optimizer.step()
with torch.no_grad():
    for xb, yb in tested:
        print(model(xb).mean())
"""
SLICED = """\
for epoch in range(9):
    order = np.random.permutation(len(x))
    for at in range(0, 90, 9):
        rows = order[at : at + 9]
        xb = x[rows]
        optimizer.zero_grad()
        nn.functional.mse_loss(model(xb), y[rows]).backward()
        optimizer.step()
    with torch.no_grad():
        print(model(xv).mean())
"""
STATISTICS = "input_mean, input_std = {0}.mean(0), {0}.std(0)\ninput_std[input_std == 0] = 1\n"


def scaled(*names: str) -> str:
    return "".join(f"{name} = ({name} - input_mean) / input_std\n" for name in names)


def after(source: str) -> str:
    made = edit(source, "normalise_inputs")
    assert isinstance(made, Edited), made
    assert edited(source, made.edits) == made.sources["train.py"]
    return made.sources["train.py"]


def test_table_whose_name_becomes_a_tensor() -> None:
    data = """\
train, test = df.iloc[:90], df.iloc[90:]
x = train[columns]
xv = test[columns]
x = torch.tensor(x.values, dtype=torch.float32)
xv = torch.tensor(xv.values, dtype=torch.float32)
y = x.sum(1, keepdim=True)
"""
    source = HEAD + data + MODEL + SLICED
    assert after(source) == HEAD + data + MODEL + STATISTICS.format("x") + scaled("x", "xv") + SLICED


@pytest.mark.parametrize("cast", ["torch.tensor({}.values).float()", "torch.from_numpy({}.to_numpy())"])
def test_table_that_is_cast_where_it_is_handed_on(cast: str) -> None:
    data = "x, xv = df[columns][:90], df[columns][90:]\ny, yv = torch.randn(90, 1), torch.randn(10, 1)\n"
    loaders = f"loader = DataLoader(TensorDataset({cast.format('x')}, y))\n"
    more = f"tested = DataLoader(TensorDataset({cast.format('xv')}, yv))\n"
    source = HEAD + data + loaders + more + MODEL + LOADERS
    new = HEAD + data + STATISTICS.format("x") + scaled("x", "xv") + loaders + more + MODEL + LOADERS
    assert after(source) == new


def test_columns_that_have_no_name() -> None:
    given = "torch.tensor({}[columns].values)"
    data = "train, test = df.iloc[:90], df.iloc[90:]\ny, yv = torch.randn(90, 1), torch.randn(10, 1)\n"
    loaders = "loader = DataLoader(TensorDataset({}, y))\ntested = DataLoader(TensorDataset({}, yv))\n"
    source = HEAD + data + loaders.format(given.format("train"), given.format("test")) + MODEL + LOADERS
    first = f"train_inputs = {given.format('train')}\n" + STATISTICS.format("train_inputs")
    normal = "({} - input_mean) / input_std"
    put = loaders.format(normal.format("train_inputs"), normal.format(given.format("test")))
    assert after(source) == HEAD + data + first + put + MODEL + LOADERS


OWN = """\
class Rows(Dataset):
    def __init__(self, values, wanted):
        self.values = torch.tensor(values, dtype=torch.float32)
        self.wanted = wanted
    def __len__(self):
        return len(self.values)
    def __getitem__(self, i):
        return self.values[i], self.wanted[i]
"""


def test_data_set_of_the_script() -> None:
    data = "x, y = np.random.rand(90, 2), np.random.rand(90, 1)\nloader = DataLoader(Rows(x, y))\n"
    more = "xv, yv = np.random.rand(10, 2), np.random.rand(10, 1)\ntested = DataLoader(Rows(xv, yv))\n"
    source = HEAD + OWN + data + more + MODEL + LOADERS
    new = data.replace("loader =", STATISTICS.format("x") + scaled("x") + "loader =")
    later = more.replace("tested =", scaled("xv") + "tested =")
    assert after(source) == HEAD + OWN + new + later + MODEL + LOADERS


def test_training_part_alone_gives_the_statistics() -> None:
    data = """\
x, y = torch.randn(100, 2), torch.randn(100, 1)
tested = DataLoader(TensorDataset(x[90:], y[90:]))
loader = DataLoader(TensorDataset(x[:90], y[:90]))
"""
    new = after(HEAD + data + MODEL + LOADERS)
    assert STATISTICS.format("x") + scaled("x") + "tested" in new, "before the first of them is handed on"
    turned = data.splitlines(keepends=True)
    new = after(HEAD + turned[0] + turned[2] + turned[1] + MODEL + LOADERS)
    assert STATISTICS.format("x[:90]") + scaled("x") + "loader" in new


def test_function_that_is_called_once_is_looked_through() -> None:
    function = "def fit(inputs, y, held):\n" + "".join(
        f"    {line}\n"
        for line in (MODEL + SLICED).replace("x[rows]", "inputs[rows]").replace("(xv)", "(held)").splitlines()
    ).replace("len(x)", "len(inputs)")
    main = "def main():\n    x, y = torch.randn(90, 2), torch.randn(90, 1)\n    xv = torch.randn(9, 2)\n"
    new = after(HEAD + function + main + "    fit(x, y, xv)\nmain()\n")
    lines = (STATISTICS.format("x") + scaled("x", "xv")).splitlines()
    assert main + "".join(f"    {line}\n" for line in lines) + "    fit(x, y, xv)\n" in new


@pytest.mark.parametrize(
    "data",
    [
        "def load(part):\n    x = torch.tensor(part[columns].values)\n    return DataLoader(TensorDataset(x, x))\n"
        "loader, tested = load(df[:90]), load(df[90:])\n",
        OWN.replace("torch.tensor(values", "torch.tensor(values[columns].values")
        + "loader, tested = DataLoader(Rows(df[:90], 0)), DataLoader(Rows(df[90:], 0))\n",
        "if len(df):\n    x = torch.randn(90, 2)\nelse:\n    x = torch.randn(9, 2)\n"
        "loader = DataLoader(TensorDataset(x, x))\ntested = DataLoader(TensorDataset(x, x))\n",
        "loader, tested = DataLoader(load()), DataLoader(load())\n",
    ],
)
def test_inputs_that_cannot_be_told_are_words(data: str) -> None:
    made = edit(HEAD + data + MODEL + LOADERS, "normalise_inputs")
    assert isinstance(made, Instruction), made
    assert "Subtract the mean" in made.text


def test_validation_that_no_way_led_to_is_normalised_alike() -> None:
    data = "x, y = torch.randn(90, 2), torch.randn(90, 1)\nxv = torch.randn(9, 2)\n"
    function = "@torch.no_grad()\ndef look(model, held):\n    return model(held).mean()\n"
    loop = SLICED.partition("    with")[0] + "        if at % 7 == 5:\n            look(model, xv)\n"
    new = after(HEAD + function + data + MODEL + loop)
    assert MODEL + STATISTICS.format("x") + scaled("x", "xv") + loop in new
