"""Restarts, resumes and odd step columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from traindx.logs.segments import segments
from traindx.logs.tables import Table, logs_from_table, step_axis


def table(**columns: list[float]) -> Table:
    return Table({name: np.array(values, float) for name, values in columns.items()}, {})


def parts(steps: list[float]) -> list[list[float]]:
    column = np.array(steps, float)
    return [column[segment.rows].tolist() for segment in segments(column)]


def test_one_training_stays_one() -> None:
    assert parts([0, 1, 1, 2, 3]) == [[0, 1, 1, 2, 3]]


def test_a_counter_that_begins_again_parts_the_file() -> None:
    assert parts([0, 1, 2, 0, 1, 0, 1, 2, 3]) == [[0, 1, 2], [0, 1], [0, 1, 2, 3]]


def test_many_short_trainings() -> None:
    assert len(parts(list(range(5)) * 100)) == 100


def test_a_resume_drops_what_it_supersedes() -> None:
    found = segments(np.array([0, 10, 20, 30, 40, 20, 30, 40, 50], float))
    assert len(found) == 1
    assert found[0].rows.tolist() == [0, 1, 5, 6, 7, 8]
    assert [event.kind for event in found[0].events] == ["resume"]


@pytest.mark.parametrize("steps", [[0, 10, 20, 15, 30, 40], [50, 100, 91], [0, 1, 2, 3, 2]])
def test_a_lone_row_out_of_order_is_no_resume(steps: list[float]) -> None:
    found = segments(np.array(steps, float))
    assert len(found) == 1
    assert not found[0].events


def test_steps_without_order_are_left_alone() -> None:
    rng = np.random.default_rng(0)
    assert len(segments(rng.permutation(1000).astype(float))) == 1


def test_nan_steps_do_not_part() -> None:
    assert len(parts([0, 1, float("nan"), 2, 3])) == 1


@given(st.lists(st.one_of(st.floats(), st.integers(-5, 5).map(float)), max_size=60))
def test_every_row_belongs_to_one_segment_at_most(steps: list[float]) -> None:
    with np.errstate(all="ignore"):
        found = segments(np.array(steps, float))
    rows = [row for segment in found for row in segment.rows.tolist()]
    assert len(rows) == len(set(rows))
    assert [segment.begin for segment in found[1:]] == [segment.end for segment in found[:-1]]


def test_batches_within_epochs_are_counted_through() -> None:
    steps, axis, _ = step_axis(
        table(epoch=[0, 0, 0, 1, 1, 1], batch=[0, 1, 2, 0, 1, 2], loss=[6, 5, 4, 3, 2, 1])
    )
    assert steps.tolist() == [0, 1, 2, 3, 4, 5]
    assert axis == "step"


def test_a_table_without_counter_is_counted_by_rows() -> None:
    (log,) = logs_from_table(table(loss=[3, 2, 1], accuracy=[0.1, 0.2, 0.3]))
    assert log.axis == "row"
    assert log.columns[0].steps.tolist() == [0, 1, 2]


def test_gaps_are_no_points_and_nan_is_one() -> None:
    rows = Table(
        {"step": np.arange(3.0), "loss": np.array([1.0, np.nan, np.nan])},
        {"loss": np.array([True, False, True])},
    )
    (log,) = logs_from_table(rows)
    assert log.columns[0].steps.tolist() == [0, 2]
    assert np.isnan(log.columns[0].values[1])
