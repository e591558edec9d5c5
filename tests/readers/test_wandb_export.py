from __future__ import annotations

from pathlib import Path

from tests.readers.truth import assert_logged, only_run, read_text

EXPORT = (
    '"Step","brave-sun-1 - train/loss","brave-sun-1 - train/loss__MIN","brave-sun-1 - train/loss__MAX",'
    '"calm - sea - train/loss","calm - sea - train/loss__MIN","calm - sea - train/loss__MAX"\n'
    '"0","2.5","2.5","2.5","","",""\n"10","1.5","1.5","1.5","NaN","NaN","NaN"\n"20","","","","3.5","3.5","3.5"\n'
)


def test_one_run_per_name(tmp_path: Path) -> None:
    runs = read_text(tmp_path, "wandb_export_2024-01-01.csv", EXPORT).runs
    assert [run.name.rpartition("(")[2] for run in runs] == ["brave-sun-1)", "calm - sea)"]
    assert_logged(runs[0], {"train/loss": [(0, 2.5), (10, 1.5)]})
    assert_logged(runs[1], {"train/loss": [(10, float("nan")), (20, 3.5)]})
    assert all(run.format == "wandb-export" for run in runs)


def test_another_x_axis_uses_the_own_step(tmp_path: Path) -> None:
    text = (
        '"Relative Time (Process)","a - _step","a - _step__MIN","a - _step__MAX","a - loss","a - loss__MIN"\n'
        "0.5,100,100,100,2,2\n1.5,200,200,200,1,1\n"
    )
    run = only_run(read_text(tmp_path, "x.csv", text))
    assert_logged(run, {"loss": [(100, 2), (200, 1)]})


def test_epoch_axis(tmp_path: Path) -> None:
    text = "epoch,a - acc,a - acc__MIN,a - acc__MAX\n1,.5,.5,.5\n2,.6,.6,.6\n"
    run = only_run(read_text(tmp_path, "x.csv", text))
    assert run.axis == "epoch"


def test_an_ordinary_table_with_dashes_is_not_an_export(tmp_path: Path) -> None:
    run = only_run(read_text(tmp_path, "x.csv", "epoch,loss - total,acc\n1,2,3\n2,1,4\n3,1,5\n"))
    assert run.format == "csv"
