"""Defects of the code: what a remedy writes into the script, and when it only says words."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from traindx.core.nouns import Diagnosis, Event, Fix, Hypothesis, Place, Problem, Run
from traindx.experiment.edit import Edited, Instruction, edit_for, edit_for_remedy
from traindx.experiment.treat.candidates import by_hand, candidates_by_cause
from traindx.source.script import parse_script

from .test_editing import LOADER, LOOP, MODEL, SGD, asked, with_
from .test_editing import changed as changed_by


def mended(
    source: str,
    remedy: str,
    line: int | None = None,
    cause: str = "",
    facts: Mapping[str, object] | None = None,
) -> Edited | Instruction:
    place = Place("train.py", line) if line is not None else None
    hypothesis = Hypothesis(cause, cause, 0.9, (), (), (), place=place)
    run = Run("r", "r", ("x",), "step", {}, facts=dict(facts or {}))
    diagnosis = Diagnosis(run, "problem", (), ()) if facts is not None else None
    return edit_for_remedy(parse_script(source), remedy, hypothesis, diagnosis)[0]


def lines(
    source: str,
    remedy: str,
    line: int | None = None,
    cause: str = "",
    facts: Mapping[str, object] | None = None,
) -> list[str]:
    """The lines that come in."""
    made = mended(source, remedy, line, cause, facts)
    assert isinstance(made, Edited), made
    old = source.splitlines()
    return [one.strip() for one in made.sources["train.py"].splitlines() if one not in old]


def at(source: str, text: str) -> int:
    return next(number for number, line in enumerate(source.splitlines(), 1) if text in line)


FLAT = "loader = DataLoader(TensorDataset(torch.randn(64, 4), torch.randn(64)), batch_size=16)\n"
ACCUMULATED = (
    LOOP.replace("for xb, yb in loader", "for i, (xb, yb) in enumerate(loader)")
    .replace("        optimizer.zero_grad()\n", "")
    .replace(
        "        optimizer.step()",
        "        if (i + 1) % 4 == 0:\n            optimizer.step()\n            optimizer.zero_grad()",
    )
)


@pytest.mark.parametrize(
    ("remedy", "source", "new"),
    [
        (
            "zero_gradients",
            with_(loop=LOOP.replace("        optimizer.zero_grad()\n", "")),
            ["optimizer.zero_grad()"],
        ),
        ("fix_accumulation", with_(loop=ACCUMULATED), ["(loss / 4).backward()"]),
        (
            "match_shapes",
            with_(loader=FLAT),
            ["loss = nn.functional.mse_loss(model(xb), yb.unsqueeze(1))"],
        ),
        (
            "add_nonlinearity",
            with_(model="model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 1))"),
            ["model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))"],
        ),
        (
            "fix_output_layer",
            with_(model="model = nn.Sequential(nn.Linear(4, 1), nn.Sigmoid())"),
            ["model = nn.Sequential(nn.Linear(4, 1))"],
        ),
        (
            "fix_schedule_pace",
            with_(
                optimizer=SGD + "schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1)",
                loop=LOOP + "        schedule.step()\n",
            ),
            ["schedule.step()"],
        ),
        (
            "enlarge_model",
            with_(model=MODEL.replace("8", "2")),
            ["model = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))"],
        ),
    ],
)
def test_defects(remedy: str, source: str, new: list[str]) -> None:
    made = mended(source, remedy)
    assert isinstance(made, Edited), made
    old = source.splitlines()
    assert [one.strip() for one in made.sources["train.py"].splitlines() if one not in old] == new
    assert made.edits


def stretched(*operations: str, shape: str = "16") -> dict[str, object]:
    shown = [{"operation": one, "from": shape, "to": "16x16"} for one in operations]
    return {"graph": {"stretched": shown}}


OWN_LOSS = """\
class Own(Dataset):
    def __getitem__(self, i):
        return sample(i)
loader = DataLoader(Own(), batch_size=16)
def distance(output, wanted):
    return ((output - wanted) ** 2).mean()
"""
OWN_LOOP = LOOP.replace("nn.functional.mse_loss(model(xb), yb)", "distance(model(xb).squeeze(1), yb)")


def test_target_takes_the_shape_of_the_prediction_where_a_recording_shows_them_apart() -> None:
    source = with_(loader=OWN_LOSS, loop=OWN_LOOP)
    assert lines(source, "match_shapes", facts=stretched("Sub")) == [
        "return ((output - wanted.view_as(output)) ** 2).mean()"
    ]
    told = mended(source, "match_shapes", facts={"graph": {"stretched": []}})
    assert isinstance(told, Instruction), "nothing shows that they are apart"
    column = source.replace("squeeze(1)", "float()")
    assert isinstance(mended(column, "match_shapes", facts=stretched("Sub")), Instruction), (
        "the script shows another shape than the recording"
    )


@pytest.mark.parametrize(
    ("loss", "facts", "new"),
    [
        (
            "(model(xb) - yb).abs().mean()",
            stretched("Sub", shape="16x1"),
            "(model(xb) - yb.unsqueeze(1)).abs().mean()",
        ),
        (
            "torch.sub(yb, model(xb).view(-1)).square().mean()",
            stretched("Sub"),
            "torch.sub(yb.squeeze(1), model(xb).view(-1)).square().mean()",
        ),
        (
            "-(yb * model(xb).log() + (1 - yb) * (1 - model(xb)).log()).mean()",
            stretched("Mul", "Mul", shape="16x1"),
            "-(yb.unsqueeze(1) * model(xb).log() + (1 - yb).unsqueeze(1) * (1 - model(xb)).log()).mean()",
        ),
    ],
)
def test_prediction_that_has_no_name(loss: str, facts: Mapping[str, object], new: str) -> None:
    loop = LOOP.replace("nn.functional.mse_loss(model(xb), yb)", loss)
    assert lines(with_(loader=OWN_LOSS, loop=loop), "match_shapes", facts=facts) == [f"loss = {new}"]


def test_validation_that_compares_by_itself_is_mended_too() -> None:
    loop = LOOP.replace(
        "loss = nn.functional.mse_loss(model(xb), yb)",
        "out = model(xb).squeeze(1)\n        loss = ((out - yb) ** 2).mean()",
    )
    tested = """\
    with torch.no_grad():
        for a, b in DataLoader(Own()):
            guess = model(a).squeeze(1)
            print(((b - guess) ** 2).mean(), (guess.flatten() - b.flatten()).abs().max())
"""
    source = with_(loader=OWN_LOSS, loop=loop + tested)
    assert lines(source, "match_shapes", facts=stretched("Sub")) == [
        "loss = ((out - yb.view_as(out)) ** 2).mean()",
        "print(((b.view_as(guess) - guess) ** 2).mean(), (guess.flatten() - b.flatten()).abs().max())",
    ]


def test_validation_now_and_then_is_followed() -> None:
    loop = """\
step = 0
for xb, yb in loader:
    out = model(xb).squeeze(1)
    loss = ((out - yb) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    step += 1
    if step % 50 == 0:
        with torch.no_grad():
            guess = model(x).squeeze(1)
            print(((guess - y) ** 2).mean())
"""
    source = with_(loader="y = load()\n" + OWN_LOSS, loop=loop)
    assert lines(source, "match_shapes", facts=stretched("Sub"))[1] == (
        "print(((guess - y.view_as(guess)) ** 2).mean())"
    )


def test_two_places_where_one_is_meant() -> None:
    loss = "((model(xb) - yb) ** 2).mean() + (model(xb) - xb[:, :1]).abs().mean()"
    source = with_(loader=OWN_LOSS, loop=LOOP.replace("nn.functional.mse_loss(model(xb), yb)", loss))
    told = mended(source, "match_shapes", facts=stretched("Sub", shape="16x1"))
    assert isinstance(told, Instruction)
    assert told.place is not None
    assert told.place.line == at(source, "loss =")


def test_sum_begins_anew_with_each_epoch() -> None:
    source = with_(
        optimizer=SGD + "total = 0.0\n",
        loop=LOOP + "        total += loss.item()\n    print(total / len(loader))\n",
    )
    made = mended(source, "fix_logging")
    assert isinstance(made, Edited)
    assert "for epoch in range(3):\n    total = 0.0\n    for xb" in made.sources["train.py"]
    counted = source.replace("total / len(loader)", "total / seen").replace(
        "total += ", "seen += 1; total += "
    )
    assert isinstance(mended(counted, "fix_logging"), Instruction), (
        "an average over all batches so far is meant"
    )


def test_labels_take_the_order_of_the_inputs() -> None:
    source = with_(
        loader="order = torch.randperm(64)\nx = x[order]\ny = y[torch.randperm(64)]\nloader = DataLoader(TensorDataset(x, y))"
    )
    assert lines(source, "align_labels", at(source, "y = y[")) == ["y = y[order]"]
    inline = with_(
        loader="x = x[torch.randperm(64)]\ny = y[torch.randperm(64)]\nloader = DataLoader(TensorDataset(x, y))"
    )
    assert lines(inline, "align_labels", at(inline, "y = y[")) == [
        "order = torch.randperm(64)",
        "x = x[order]",
        "y = y[order]",
    ]


def test_validation_data_leave_the_training_data() -> None:
    source = with_(
        loader="from torch.utils.data import ConcatDataset\na, b = TensorDataset(x, y), TensorDataset(x[:8], y[:8])\n"
        "loader = DataLoader(ConcatDataset([a, b]))\nval = DataLoader(b)"
    )
    assert lines(source, "split_anew") == ["loader = DataLoader(ConcatDataset([a]))"]


@pytest.mark.parametrize(
    ("loss", "new"),
    [
        (
            "-(yb * torch.log(torch.sigmoid(model(xb)))).mean()",
            "-(yb * torch.log(torch.sigmoid(model(xb)).clamp_min(1e-7))).mean()",
        ),
        (
            "((model(xb) - yb) ** 2).sum(1).sqrt().mean()",
            "(((model(xb) - yb) ** 2).sum(1) + 1e-8).sqrt().mean()",
        ),
    ],
)
def test_math_is_guarded_once(loss: str, new: str) -> None:
    source = with_(loop=LOOP.replace("nn.functional.mse_loss(model(xb), yb)", loss))
    made = mended(source, "guard_math", at(source, "loss ="))
    assert isinstance(made, Edited)
    assert f"loss = {new}" in made.sources["train.py"]
    assert isinstance(mended(made.sources["train.py"], "guard_math", at(source, "loss =")), Instruction)


def broke(operation: str, low: float, dtype: str = "float32") -> Run:
    data = {"operation": operation, "numbers": {"min": low, "max": 9.0, "dtype": dtype}}
    events = (Event("nonfinite", 7, operation, data),)
    return Run("r", "r", ("x",), "step", {}, events=events)


def guarded(loss: str, run: Run) -> list[Edited | Instruction]:
    source = with_(loop=LOOP.replace("nn.functional.mse_loss(model(xb), yb)", loss))
    hypothesis = Hypothesis(
        "unstable_math", "", 0.9, (), (), (), place=Place("train.py", at(source, "loss ="))
    )
    diagnosis = Diagnosis(run, "problem", (), ())
    return edit_for_remedy(parse_script(source), "guard_math", hypothesis, diagnosis)


@pytest.mark.parametrize(
    ("loss", "operation", "low", "new"),
    [
        ("torch.log1p(model(xb)).mean()", "log1p of a number below -1", -2, "model(xb).clamp_min(-1 + 1e-6)"),
        ("-(model(xb) * yb).log().mean()", "log of a negative number", -2, "(model(xb) * yb).clamp_min(1e-7)"),
        ("model(xb).sqrt().mean()", "sqrt of a negative number", -2, "model(xb).clamp_min(1e-8)"),
        ("torch.sqrt(model(xb) ** 2).mean()", "sqrt at 0", 0, "model(xb) ** 2 + 1e-8"),
        ("model(xb).acos().mean()", "acos of a number that is not from -1 to 1", -2, "model(xb).clamp(-1 + 1e-6, 1 - 1e-6)"),
        ("torch.logit(model(xb)).mean()", "logit of a number that is not from 0 to 1", -2, "model(xb).clamp(1e-6, 1 - 1e-6)"),
        ("(model(xb) ** 1.5).mean() + model(xb).pow(2).mean()", "broken power of a negative number", -2, "model(xb).clamp_min(1e-7) ** 1.5"),
        ("(yb / model(xb).relu()).mean()", "division by 0", 0, "yb / model(xb).relu().clamp_min(1e-8)"),
        ("torch.div(yb, model(xb).exp()).mean()", "division by 0", 0, "model(xb).exp().clamp_min(1e-8)"),
        ("(yb - 1 / model(xb)).mean()", "division by 0", -2, ""),
        ("torch.log1p(model(xb).clamp_min(-0.5)).mean()", "log1p of a number below -1", -2, ""),
        ("model(xb).exp().mean()", "exp overflow", -2, ""),
        ("torch.log(yb).mean() + model(xb).mean()", "acos of a number that is not from -1 to 1", -2, ""),
    ],
)  # fmt: skip
def test_operation_that_broke_is_kept_in_its_domain(loss: str, operation: str, low: float, new: str) -> None:
    [made] = guarded(loss, broke(operation, low))
    if not new:
        assert isinstance(made, Instruction), made
        return
    assert isinstance(made, Edited), made
    [line] = [one.strip() for one in made.sources["train.py"].splitlines() if "loss =" in one]
    old = new.replace(".clamp_min(", "\0").replace(".clamp(", "\0").replace(" + 1e-8", "\0").split("\0")[0]
    assert new in line
    assert line == f"loss = {loss.replace(old, new.split(' ** 1.5')[0], 1)}"


def test_half_precision_needs_a_wider_margin() -> None:
    [made] = guarded("model(xb).log().mean()", broke("log of 0", 0, "float16"))
    assert isinstance(made, Edited)
    assert "model(xb).clamp_min(1e-3).log()" in made.sources["train.py"]


def test_counts_have_no_negative_predictions() -> None:
    run = broke("log1p of a number below -1", -2)
    made = guarded("torch.sqrt(((torch.log1p(model(xb)) - torch.log1p(yb)) ** 2).mean())", run)
    texts = [one.sources["train.py"] for one in made if isinstance(one, Edited)]
    assert ["clamp_min(0.0)" in texts[0], "clamp_min(-1 + 1e-6)" in texts[1]] == [True, True]
    assert all(text.count("clamp") == 1 and "torch.log1p(yb)" in text for text in texts)


def test_prediction_that_the_loss_uses_besides_is_bounded_everywhere() -> None:
    loss = "def own(rate, count):\n    return (rate - count * rate.log()).mean()\n"
    source = with_(
        loader=LOADER + loss, loop=LOOP.replace("nn.functional.mse_loss(model(xb), yb)", "own(model(xb), yb)")
    )
    diagnosis = Diagnosis(broke("log of a negative number", -2), "problem", (), ())
    [made] = edit_for_remedy(parse_script(source), "guard_math", None, diagnosis)
    assert isinstance(made, Edited)
    assert (
        loss.replace("    return", "    rate = rate.clamp_min(1e-7)\n    return") in made.sources["train.py"]
    ), "else the loss could fall for ever by a rate below zero"


def test_words_are_those_of_the_first_remedy() -> None:
    source = with_(loop=LOOP.replace("nn.functional.mse_loss(model(xb), yb)", "model(xb).log().mean()"))
    fixes = (
        Fix("guard_math", "Bound it."),
        Fix("pass_logits", "Take the softmax out.", trials=("pass_logits",)),
    )
    hypothesis = Hypothesis("unstable_math", "", 0.9, (), (), fixes, place=Place("train.py", 9))
    problem = Problem("nonfinite", (), "critical", 5, "", (), (hypothesis,), 0.1)
    [course] = candidates_by_cause(
        Diagnosis(broke("log of 0", 0), "problem", (problem,), ()), parse_script(source)
    )
    assert [one.name for one in course.candidates] == ["edit: guard_math", "pass_logits"]
    assert by_hand([course], ()) == Instruction("Bound it.", Place("train.py", 9)), "its edit may not help"
    assert "softmax" in course.instructions[0][1].text


def test_validation_is_guarded_alike() -> None:
    loop = LOOP.replace("nn.functional.mse_loss(model(xb), yb)", "model(xb).log1p().mean()")
    loop += "    with torch.no_grad():\n        print(torch.log1p(model(x)).mean(), torch.log1p(y).mean())\n"
    source, run = with_(loop=loop), broke("log1p of a number below -1", -2)
    made = edit_for_remedy(parse_script(source), "guard_math", None, Diagnosis(run, "problem", (), ()))[-1]
    assert isinstance(made, Edited)
    assert (
        "print(torch.log1p(model(x).clamp_min(-1 + 1e-6)).mean(), torch.log1p(y)" in made.sources["train.py"]
    )


def test_whole_division_is_mended_only_where_it_kills_the_inputs() -> None:
    source = with_(loader="x = (x * 255) // 255\n" + "loader = DataLoader(TensorDataset(x, y))")
    line = at(source, "//")
    assert lines(source, "fix_pipeline", line, "constant_inputs") == ["x = (x * 255) / 255"]
    assert isinstance(mended(source, "fix_pipeline", line, "data_leakage"), Instruction)


def test_similarity_becomes_a_distance() -> None:
    source = with_(
        loop=LOOP.replace(
            "nn.functional.mse_loss(model(xb), yb)", "nn.functional.cosine_similarity(model(xb), yb).mean()"
        )
    )
    assert lines(source, "fix_loss") == ["loss = 1 - nn.functional.cosine_similarity(model(xb), yb).mean()"]


def test_wrapped_model_is_the_one_that_is_called() -> None:
    source = with_(
        model=MODEL + "from torch.nn.parallel import DistributedDataParallel as DDP\nwrapped = DDP(model)"
    )
    assert lines(source, "sync_ranks") == ["loss = nn.functional.mse_loss(wrapped(xb), yb)"]


def test_state_of_the_optimizer_is_loaded() -> None:
    source = with_(
        optimizer=SGD + "saved = torch.load('a.pt')\nmodel.load_state_dict(saved['model'])",
        loop=LOOP + "torch.save({'model': model.state_dict(), 'optim': optimizer.state_dict()}, 'a.pt')\n",
    )
    assert lines(source, "restore_state") == ['optimizer.load_state_dict(saved["optim"])']


def test_modes() -> None:
    dropout = MODEL.replace("nn.ReLU()", "nn.Dropout()")
    looped = "    with torch.no_grad():\n        for a, b in DataLoader(TensorDataset(x, y)):\n            print(model(a).mean())\n"
    assert lines(with_(model=dropout, loop=LOOP + looped), "set_modes") == ["model.eval()", "model.train()"]
    evaluated = with_(model=dropout, loop=LOOP + "    model.eval()\n" + looped)
    made = mended(evaluated, "set_modes")
    assert isinstance(made, Edited)
    assert "    model.train()\n    for xb, yb in loader" in made.sources["train.py"]


def test_classes_are_weighted_by_what_was_counted() -> None:
    run = Run(
        "r", "r", ("x",), "step", {}, facts={"classes": {"0": 90, "1": 10}, "models": [{"output_width": 2}]}
    )
    source = with_(
        model="model = nn.Linear(4, 2)",
        loop=LOOP.replace("mse_loss(model(xb), yb)", "cross_entropy(model(xb), yb)"),
    )
    assert changed_by(source, "weight_classes", run=run)[1].endswith("weight=torch.tensor([0.5556, 5]))")
    assert isinstance(edit_for(parse_script(source), asked("weight_classes")), Instruction), (
        "nothing was counted"
    )


@pytest.mark.parametrize(
    "remedy",
    """
    align_labels balance_ranks clean_labels check_targets fix_loss fix_pipeline fix_scaler_order free_memory
    get_more_data guard_math keep_checkpoint match_validation move_sync_out prevent_collapse restore_state
    split_anew stop_early sync_ranks zero_gradients fix_accumulation fix_schedule_pace train_all_parameters
    """.split(),
)
def test_healthy_script_is_left_alone(remedy: str) -> None:
    made = mended(with_(), remedy)
    assert isinstance(made, Instruction), made
    assert made.text
