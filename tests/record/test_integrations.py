"""The callbacks of each framework, in programs of the real libraries: recorded, stopped, reported."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

import traindx
from tests import warm
from tests.warm import Ran

KERAS = """
import keras, numpy as np
from traindx.integrations.keras import TraindxCallback

rng = np.random.default_rng(0)
x = rng.normal(size=(512, 8)).astype("float32")
y = (x @ rng.normal(size=(8, 3))).argmax(1)
model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(3)])
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=keras.optimizers.Adam(LR), loss=loss, metrics=["accuracy"])
model.fit(x, y, validation_split=0.25, epochs=12, verbose=0, callbacks=[TraindxCallback(out="rec")])
"""
LIGHTNING = """
import lightning as L, torch
from torch.utils.data import DataLoader, TensorDataset
from traindx.integrations.lightning import TraindxCallback

class Net(L.LightningModule):
    def __init__(self, lr):
        super().__init__()
        self.save_hyperparameters()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))

    def training_step(self, batch, _):
        return torch.nn.functional.cross_entropy(self.net(batch[0]), batch[1])

    def validation_step(self, batch, _):
        out = self.net(batch[0])
        self.log("val_acc", (out.argmax(1) == batch[1]).float().mean())
        self.log("val_loss", torch.nn.functional.cross_entropy(out, batch[1]))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=self.hparams.lr)

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
loader = DataLoader(TensorDataset(x[:320], y[:320]), batch_size=32, shuffle=True)
quiet = dict(logger=False, enable_progress_bar=False, enable_checkpointing=False, enable_model_summary=False)
callback = TraindxCallback(out="rec", stop_on=STOP)
trainer = L.Trainer(max_epochs=EPOCHS, accelerator="cpu", callbacks=[callback], **quiet)
trainer.fit(Net(LR), loader, DataLoader(TensorDataset(x[320:], y[320:]), batch_size=96))
print("epochs trained:", trainer.current_epoch)
"""
TRANSFORMERS = """
import torch, transformers
import traindx.integrations.transformers
from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

torch.manual_seed(0)
sizes = dict(vocab_size=50, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64)
model = BertForSequenceClassification(BertConfig(**sizes, num_labels=2))
ids = torch.randint(0, 50, (256, 12))
rows = [{"input_ids": one, "labels": int(one[0] > 24)} for one in ids]
args = TrainingArguments("out", report_to="traindx", learning_rate=1e-3, num_train_epochs=4, logging_steps=4,
    per_device_train_batch_size=16, eval_strategy="epoch", save_strategy="no", disable_tqdm=True,
    use_cpu=True)
Trainer(model=model, args=args, train_dataset=rows[:192], eval_dataset=rows[192:]).train()
"""
ACCELERATE = """
import torch
from accelerate import Accelerator
from traindx.integrations.accelerate import TraindxTracker

torch.manual_seed(0)
accelerator = Accelerator(cpu=True, log_with=[TraindxTracker(out="rec")])
accelerator.init_trackers("project", config={"dropout": 0.1})
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
model, optimizer = accelerator.prepare(model, torch.optim.Adam(model.parameters(), lr=1e-2))
for step in range(150):
    x = torch.randn(32, 8)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    accelerator.log({"my_score": 1 / (1 + step)}, step=step)
accelerator.end_training()
"""
IGNITE = """
import torch
from ignite.engine import Engine, Events, create_supervised_evaluator, create_supervised_trainer
from ignite.metrics import Accuracy, Loss
from torch.utils.data import DataLoader, TensorDataset
from traindx.integrations.ignite import TraindxCallback

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
train = DataLoader(TensorDataset(x[:320], y[:320]), batch_size=32, shuffle=True)
held_out = DataLoader(TensorDataset(x[320:], y[320:]), batch_size=96)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
optimizer, loss = torch.optim.Adam(model.parameters(), lr=3e-3), torch.nn.CrossEntropyLoss()
trainer = create_supervised_trainer(model, optimizer, loss)
evaluator = create_supervised_evaluator(model, {"accuracy": Accuracy(), "loss": Loss(loss)})
trainer.add_event_handler(Events.EPOCH_COMPLETED, lambda: evaluator.run(held_out))
TraindxCallback(out="rec").attach(trainer, evaluators={"val": evaluator})
trainer.run(train, max_epochs=10)

def step(engine, batch):
    value = model(batch[0]).mean() * float("nan")
    optimizer.zero_grad()
    value.backward()
    optimizer.step()

broken = Engine(step)
TraindxCallback(out="broken", stop_on="critical").attach(broken)
broken.run(train, max_epochs=500)
print("epochs trained:", broken.state.epoch)
"""
FASTAI = """
import fastai.callback.progress, torch
from fastai.data.core import DataLoaders
from fastai.data.load import DataLoader
from fastai.learner import Learner
from fastai.metrics import accuracy
from torch.utils.data import TensorDataset
from traindx.integrations.fastai import TraindxCallback

torch.manual_seed(0)
x = torch.randn(512, 8)
y = (x @ torch.randn(8, 3)).argmax(1)
train, held_out = TensorDataset(x[:320], y[:320]), TensorDataset(x[320:], y[320:])
dls = DataLoaders(DataLoader(train, bs=32, shuffle=True), DataLoader(held_out, bs=96))
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3))
callback = TraindxCallback(out="rec")
loss = torch.nn.CrossEntropyLoss()
learn = Learner(dls, model, loss_func=loss, metrics=accuracy, cbs=callback)
with learn.no_bar():
    learn.fit(10, 3e-3)
learn.remove_cb(callback)
learn.loss_func = lambda outputs, targets: outputs.mean() * float("nan")
with learn.no_bar():
    learn.fit(500, 3e-3, cbs=TraindxCallback(out="broken", stop_on="critical"))
print("epochs trained:", learn.epoch + 1)
"""
# TensorBoard, which the library tries to import, would load TensorFlow for seconds.
SB3 = """
import sys
sys.modules["tensorboard"] = None
from stable_baselines3 import DQN, PPO
from traindx.integrations.sb3 import TraindxCallback

model = PPO("MlpPolicy", "CartPole-v1", n_steps=256, batch_size=64, n_epochs=4, seed=0, device="cpu")
model.learn(1024, callback=TraindxCallback(out="rec"))
how = dict(learning_rate=1e30, learning_starts=10, train_freq=100, gradient_steps=20)
model = DQN("MlpPolicy", "CartPole-v1", seed=0, device="cpu", **how)
model.learn(50_000, callback=TraindxCallback(out="broken", stop_on="critical"))
print("steps trained:", model.num_timesteps)
"""


def needs(module: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(find_spec(module) is None, reason=f"{module} is not installed")


def ran(tmp_path: Path, text: str, *command: str) -> Ran:
    (tmp_path / "train.py").write_text(text, encoding="utf-8")
    done = warm.ran(tmp_path, *command, "train.py")
    assert done.code == 0, done.err
    return done


def only_run(folder: Path) -> traindx.Run:
    (run,) = traindx.read(folder).runs
    return run


def test_keras(tmp_path: Path) -> None:
    done = ran(tmp_path, KERAS.replace("LR", "1e-3"))
    run = only_run(tmp_path / "rec")
    assert len(run.series["loss"].values) == 144
    assert len(run.series["val/accuracy"].values) == 12
    assert any(name.startswith("grad_norm") for name in run.series)
    assert done.err.count("HEALTHY") == 1


def test_lightning(tmp_path: Path) -> None:
    text = LIGHTNING.replace("EPOCHS", "10").replace("STOP", "None").replace("Net(LR)", "Net(3e-3)")
    done = ran(tmp_path, text)
    run = only_run(tmp_path / "rec")
    assert len(run.series["loss"].values) == 100
    assert len(run.series["val/accuracy"].values) >= 10
    assert run.config["lr"] == 3e-3
    assert done.err.count("HEALTHY") == 1
    # The loss is computed in a closure that the optimizer calls: its graph is known all the same.
    assert run.facts["graph"]["depth"] == 2
    assert (run.facts["reach"]["held"], run.facts["reach"]["free"]) == (4, [])


def test_lightning_with_layers_that_no_optimizer_holds(tmp_path: Path) -> None:
    text = LIGHTNING.replace("EPOCHS", "10").replace("STOP", "None").replace("Net(LR)", "Net(3e-3)")
    ran(tmp_path, text.replace("Adam(self.parameters()", "Adam(self.net[2].parameters()"))
    run = only_run(tmp_path / "rec")
    assert set(run.facts["reach"]["free"]) == {"net.0.weight", "net.0.bias"}
    assert traindx.diagnose(run).problems[0].hypotheses[0].cause == "untrained_parameters"


def test_lightning_stops_at_a_critical_problem(tmp_path: Path) -> None:
    text = LIGHTNING.replace("EPOCHS", "200").replace("STOP", "'critical'").replace("Net(LR)", "Net(1e6)")
    text = text.replace(
        "self.net(batch[0]), batch[1])\n", "self.net(batch[0]), batch[1]) * float('nan')\n", 1
    )
    done = ran(tmp_path, text)
    assert int(done.out.rsplit("epochs trained:", 1)[1]) < 200
    assert "PROBLEM" in done.err


def test_transformers_by_report_to(tmp_path: Path) -> None:
    done = ran(tmp_path, TRANSFORMERS)
    (folder,) = filter(Path.is_dir, (tmp_path / ".traindx").iterdir())
    run = only_run(folder)
    assert len(run.series["loss"].values) == 48
    assert len(run.series["val/loss"].values) == 4
    assert run.config["lr"] == 1e-3
    assert "last step 4" in done.err


def test_accelerate(tmp_path: Path) -> None:
    done = ran(tmp_path, ACCELERATE)
    run = only_run(tmp_path / "rec")
    assert len(run.series["my_score"].values) == 150
    assert run.config["dropout"] == 0.1
    assert "HEALTHY" in done.err


@needs("ignite")
def test_ignite_records_and_stops(tmp_path: Path) -> None:
    done = ran(tmp_path, IGNITE)
    run = only_run(tmp_path / "rec")
    assert len(run.series["loss"].values) == 100
    assert len(run.series["val/accuracy"].values) == 10
    assert run.config["epochs"] == 10
    assert done.err.count("HEALTHY") == 1
    assert int(done.out.rsplit("epochs trained:", 1)[1]) < 500
    assert "PROBLEM" in done.err


# The torchvision that comes with it is built for CUDA: beside the CPU build of torch it does not load, and
# breaks what asks for it. So fastai is not among the packages of the tests.
@needs("fastai")
def test_fastai_records_and_stops(tmp_path: Path) -> None:
    done = ran(tmp_path, FASTAI)
    run = only_run(tmp_path / "rec")
    assert len(run.series["loss"].values) == 100
    assert len(run.series["val/accuracy"].values) == 10
    assert len(run.series["lr"].values) >= 100
    assert done.err.count("HEALTHY") == 1
    assert int(done.out.rsplit("epochs trained:", 1)[1]) < 500
    assert "PROBLEM" in done.err


@needs("stable_baselines3")
def test_sb3_records_and_stops(tmp_path: Path) -> None:
    done = ran(tmp_path, SB3)
    run = only_run(tmp_path / "rec")
    assert len(run.series["loss"].values) == 64
    assert len(run.series["reward/rollout"].values) == 4
    assert run.config["n_steps"] == 256
    assert "PROBLEM" in done.err
    assert int(done.out.rsplit("steps trained:", 1)[1]) < 50_000


def test_under_traindx_run_there_is_one_recording_and_one_report(tmp_path: Path) -> None:
    done = ran(tmp_path, ACCELERATE.replace('out="rec"', ""), "-m", "traindx", "run")
    (folder,) = filter(Path.is_dir, (tmp_path / ".traindx").iterdir())
    assert len(only_run(folder).series["my_score"].values) == 150
    assert (done.out + done.err).count("HEALTHY") == 1


FRAMEWORKS = ["keras", "lightning", "transformers", "accelerate", "ignite", "fastai", "sb3"]


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_a_missing_framework_is_one_line(tmp_path: Path, name: str) -> None:
    text = f"""
import sys
sys.modules["{"stable_baselines3" if name == "sb3" else name}"] = None
try:
    import traindx.integrations.{name}
except ImportError as error:
    print(error)
"""
    assert f"pip install 'traindx[{name}]'" in ran(tmp_path, text).out


def test_a_severity_that_is_none(tmp_path: Path) -> None:
    text = """
from traindx.integrations.keras import TraindxCallback
try:
    TraindxCallback(stop_on="bad")
except ValueError as error:
    print(error)
"""
    assert "critical, high, medium, or None; got 'bad'" in ran(tmp_path, text).out
