"""From the scalars of several event files to trainings: restarts, resumes, counters that start again."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from traindx.core.nouns import BoolArray, Event, FloatArray, IntArray
from traindx.logs.segments import segments
from traindx.logs.tfevents.events import Scalars


@dataclass
class Track:
    """The points of one tag in file order; `order` counts the points of all tags of the file."""

    steps: FloatArray
    values: FloatArray
    times: FloatArray
    order: IntArray

    def only(self, keep: BoolArray | slice | IntArray) -> Track:
        return Track(self.steps[keep], self.values[keep], self.times[keep], self.order[keep])


Tracks = dict[str, Track]


@dataclass
class LoggedTraining:
    """The curves of one training, from one or more files."""

    tracks: Tracks
    config: dict[str, object] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)

    @property
    def stepless(self) -> bool:
        """Whether the writer never advanced the step: every curve has a single step."""
        tracks = self.tracks.values()
        longest = max((t.steps.size for t in tracks), default=0)
        return longest > 2 and all((t.steps == t.steps[0]).all() for t in tracks)

    @property
    def began(self) -> float:
        return min((float(t.times[0]) for t in self.tracks.values() if t.times.size), default=0.0)


def tracks_of(scalars: Scalars) -> Tracks:
    """The points of a file by tag."""
    order = np.argsort(scalars.tag, kind="stable")
    counts = np.bincount(scalars.tag, minlength=len(scalars.tags))
    ends = np.cumsum(counts)
    steps = scalars.step[order].astype(float)
    values, times = scalars.value[order], scalars.time[order]
    return {
        name: Track(
            steps[end - count : end],
            values[end - count : end],
            times[end - count : end],
            order[end - count : end],
        )
        for name, count, end in zip(scalars.tags, counts, ends, strict=True)
        if count
    }


def trainings(files: Iterable[tuple[Tracks, dict[str, object]]]) -> list[LoggedTraining]:
    """The trainings in the files of one folder, which are in the order of time."""
    result: list[LoggedTraining] = []
    spare: dict[str, object] = {}
    for tracks, config in files:
        if not tracks:
            spare.update(config)
            continue
        for number, part in enumerate(_parts(_one_count(tracks))):
            part.config = dict(config)
            if number or not result or not _continue(result[-1], part):
                result.append(part)
    for training in result:
        training.config = {**spare, **training.config}
    return result


def _main(tracks: Tracks) -> str:
    """The tag that shows the training's course best: a loss with many points."""
    return max(tracks, key=lambda tag: (tracks[tag].steps.size, "loss" in tag.lower()))


def _parts(tracks: Tracks) -> list[LoggedTraining]:
    """The trainings in one file: a writer that was used again starts its steps again."""
    main = tracks[_main(tracks)]
    cuts = segments(main.steps)
    if len(cuts) == 1 and not cuts[0].events:
        return [LoggedTraining(tracks)]
    bounds: list[tuple[int, int]] = []
    for before, after in pairwise(cuts):
        bounds.append((int(main.order[before.rows[-1]]), int(main.order[after.begin])))
    parts = [LoggedTraining({}, events=cut.events) for cut in cuts]
    for tag, track in tracks.items():
        edges = [0, *(_edge(track, low, high) for low, high in bounds), track.steps.size]
        for part, low, high in zip(parts, edges[:-1], edges[1:], strict=True):
            piece = track.only(slice(low, high))
            own_segments = segments(piece.steps) if part.events else []
            if len(own_segments) == 1:
                piece = piece.only(own_segments[0].rows)
            if piece.steps.size:
                part.tracks[tag] = piece
    return [part for part in parts if part.tracks]


def _edge(track: Track, low: int, high: int) -> int:
    """Where a tag's points pass from one training to the next, between two moments of the file."""
    first, last = (int(at) for at in np.searchsorted(track.order, (low, high)))
    falls = np.flatnonzero(np.diff(track.steps[max(first - 1, 0) : last]) < 0)
    return max(first - 1, 0) + int(falls[0]) + 1 if falls.size else last


def _one_count(tracks: Tracks) -> Tracks:
    """Steps that count within an epoch and start again with each are joined into one count.

    They look like restarts, but the curve continues where it was and each part is as long as the
    one before.
    """
    main = tracks[_main(tracks)]
    falls = np.flatnonzero(np.diff(main.steps) < 0) + 1
    if falls.size < 2 or not np.isfinite(main.values).any():
        return tracks
    tops, begins = main.steps[falls - 1], main.steps[np.append(0, falls)]
    length = float(tops.max() - begins.min() + 1)
    if (begins != begins[0]).any() or (tops != tops[0]).any() or length < 2:
        return tracks
    jump = np.abs(main.values[falls] - main.values[falls - 1])
    from_start = np.abs(main.values[falls] - main.values[0])
    if not (jump < from_start).sum() > 0.5 * falls.size:
        return tracks
    joined_tracks: Tracks = {}
    for tag, track in tracks.items():
        restarts = np.concatenate(([0], np.cumsum(np.diff(track.steps) < 0)))
        again = abs(int(restarts[-1]) - falls.size) <= 1
        steps = track.steps + restarts * length if again else track.steps
        joined_tracks[tag] = Track(steps, track.values, track.times, track.order)
    return joined_tracks


def _continue(old: LoggedTraining, new: LoggedTraining) -> bool:
    """Add a later file to a training; False when it is another training."""
    common = [tag for tag in new.tracks if tag in old.tracks]
    tags = [tag for tag in common if old.tracks[tag].steps.size > 1] or common
    again = resumed = 0
    for tag in tags:
        first, before = new.tracks[tag].steps[0], old.tracks[tag].steps
        again += bool(first <= before.min())
        resumed += bool(before.min() < first < before.max())
    if tags and again > 0.5 * len(tags):
        return False
    if resumed:
        _supersede(old, new, tags)
    offset = 1 + max(int(t.order[-1]) for t in old.tracks.values())
    for tag, track in new.tracks.items():
        track.order = track.order + offset
        had = old.tracks.get(tag)
        old.tracks[tag] = (
            track
            if had is None
            else Track(
                *(
                    np.concatenate((getattr(had, name), getattr(track, name)))
                    for name in ("steps", "values", "times", "order")
                )
            )
        )
    old.config.update({key: value for key, value in new.config.items() if key not in old.config})
    old.events += new.events
    return True


def _supersede(old: LoggedTraining, new: LoggedTraining, tags: list[str]) -> None:
    """Drop what had been logged after the checkpoint from which the new file continues."""
    main = _main({tag: old.tracks[tag] for tag in tags})
    point, peak = float(new.tracks[main].steps[0]), float(old.tracks[main].steps.max())
    dropped = 0
    for tag, track in list(old.tracks.items()):
        limit = float(new.tracks[tag].steps[0]) if tag in new.tracks else point
        keep = track.steps < limit if limit < track.steps.max() else np.ones(track.steps.size, dtype=bool)
        dropped += int((~keep).sum())
        if keep.any():
            old.tracks[tag] = track.only(keep)
        else:
            del old.tracks[tag]
    text = f"resumed at {point:g} after reaching {peak:g}; {dropped} points superseded"
    old.events.append(Event("resume", text, point))
