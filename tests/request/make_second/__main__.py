"""Writes all logs."""

from tests.request.make_second import answers, gaps, gradients, healthy, healthy_more, plateaus, speed

if __name__ == "__main__":
    for module in (plateaus, gaps, gradients, speed, healthy, healthy_more, answers):
        module.write()
