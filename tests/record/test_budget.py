"""The budget: what the recorder takes stays under its share, in every stretch of ten seconds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from traindx.observe.budget import UNDERCOUNT, Budget

WARM_UP = 10.0


def spend(share: float, step: float, row: float, norm: float, sample: float) -> list[tuple[float, float]]:
    """Play 60 s of training against a budget: when it spent what."""
    budget, now, steps = Budget(share), 0.0, 0
    spent: list[tuple[float, float]] = []
    while now < 60:
        steps += 1
        own = row if steps % budget.stride == 0 or now < 5 else 0.0
        took = step + own
        looked = budget.samples.can_pay()
        if budget.norms.can_pay():
            budget.norms.pay(UNDERCOUNT * norm)
            took += norm
            own += norm
        budget.step(took, row, looked)
        if looked:
            budget.sampled(sample, step + sample)
            took += sample
            own += sample
        now += took
        spent.append((now, own))
    return spent


@given(
    share=st.sampled_from([0.005, 0.01, 0.05]),
    step=st.floats(0.002, 1.0),
    row=st.floats(5e-6, 4e-5),
    norm=st.floats(2e-5, 5e-3),
    sample=st.floats(1e-4, 2e-2),
)
def test_any_ten_seconds_stay_under_the_share(
    share: float, step: float, row: float, norm: float, sample: float
) -> None:
    spent = spend(share, step, row, norm, sample)
    allowed = share * 10 + max(norm, sample)
    first = 0
    for last, (now, _) in enumerate(spent):
        while spent[first][0] < max(now - 10, WARM_UP):
            first += 1
            if first > last:
                break
        assert sum(own for _, own in spent[first : last + 1]) <= allowed
        if last > 4000:
            break


def test_slow_steps_are_looked_into_often_and_fast_ones_rarely() -> None:
    slow = sum(1 for _, own in spend(0.01, 0.5, 1e-5, 1e-3, 2e-3) if own > 2e-3)
    fast = [own for _, own in spend(0.01, 0.003, 1e-5, 5e-5, 4e-4)]
    assert slow > 60
    assert 0.0002 < sum(1 for own in fast if own > 4e-4) / len(fast) < 0.05


def test_rows_are_thinned_only_where_they_alone_break_the_budget() -> None:
    def stride(step: float, row: float) -> int:
        budget = Budget(0.01)
        for _ in range(400):
            budget.step(step, row, False)
        return budget.stride

    assert stride(0.003, 1.5e-5) == 1
    assert stride(0.0005, 3e-5) > 4


def test_no_budget_means_no_looks() -> None:
    budget = Budget(0.0)
    for _ in range(1000):
        budget.step(1.0, 1e-5, False)
    assert not budget.norms.can_pay()
    assert not budget.samples.can_pay()
