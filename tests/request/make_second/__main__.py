"""Writes all logs."""

from tests.request.make_second import (
    answers,
    gaps,
    gradients,
    healthy,
    healthy_gaps,
    healthy_more,
    high,
    plateaus,
    speed,
    swings,
)

if __name__ == "__main__":
    for module in (
        plateaus,
        swings,
        gaps,
        high,
        gradients,
        speed,
        healthy,
        healthy_gaps,
        healthy_more,
        answers,
    ):
        module.write()
