"""Writes all logs."""

from . import answers, floors, games, gaps, nans, noises, plateaus, schedules, slow, swings, tuned

if __name__ == "__main__":
    for module in (floors, schedules, noises, games, tuned, plateaus, swings, gaps, nans, slow, answers):
        module.write()
