"""The events of a recorded training, from the recorder and the printed text, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from traindx.core.nouns import Event
from traindx.logs.printed_text import PrintedText
from traindx.logs.recordings import RecordingPart
from traindx.logs.run_facts import Ending, RunFacts, ending_event, exception_kind

# Events about the recording itself, not the training.
_OF_THE_RECORDING = frozenset({"recording_lost", "recording_gap"})
_LAST_WORDS = frozenset({"exception", "out_of_memory", "interrupted", "exit"})
_SAME_TEXT = 60
_AT_THE_END = 5.0
_DATA_LONGEST = 200


def recorded_events(
    ranks: Mapping[int, RecordingPart], first: int, facts: RunFacts, printed: PrintedText, *, last: bool
) -> tuple[list[Event], list[str]]:
    """Events and notes of all ranks, each once; `first` is the rank whose series get the plain names."""
    events: list[Event] = []
    notes = list(facts.notes)
    endless = True
    for rank, part in sorted(ranks.items()):
        front = f"rank {rank}: " if rank != first else ""
        ending = _ending(part) or (facts.ending if rank == min(ranks) else None)
        endless = endless and (ending is None or rank not in (first, min(ranks)))
        for event in _events(part, ending, rank):
            if not any(_same_event(event, known_event) for known_event in events):
                events.append(replace(event, text=front + event.text))
        notes += [front + m.text for m in part.events if m.kind in _OF_THE_RECORDING and m.text]
        if not facts.exists:
            failed = (m.text for m in part.events if m.kind == "probe_failed")
            notes += [f"{front}a measurement failed: {text}" for text in failed]
    if endless and last and facts.version >= 2:
        notes.append("the recording has no end: the training still runs, or it was killed")
    ends = [event for event in events if event.kind in _LAST_WORDS]
    when = max((m.t for m in ranks[first].events if m.kind == "ended" and m.t is not None), default=None)
    end = None if when is None else ranks[first].started + when
    for event, time in printed.events():
        if not any(_same_event(event, end_event) for end_event in ends) and not _final(
            event, time, ends, end
        ):
            events.append(event)
    return events, notes


def _events(part: RecordingPart, ending: Ending | None, rank: int) -> Iterator[Event]:
    for moment in part.events:
        if moment.kind in _OF_THE_RECORDING or moment.kind in ("ended", "probe_failed"):
            continue
        text = moment.text or _data_text(moment.data)
        kind = exception_kind(text) if moment.kind == "exception" else moment.kind
        # It still counts by the steps of the training before.
        step = None if kind == "new_training" else moment.step
        yield Event(kind, text, step, {**moment.data, "rank": rank})
    if ending is not None and (event := ending_event(ending)) is not None:
        yield event


def _data_text(data: Mapping[str, object]) -> str:
    return ", ".join(f"{key}={value}" for key, value in data.items())[:_DATA_LONGEST]


def _ending(part: RecordingPart) -> Ending | None:
    """The end as the process itself wrote it."""
    ends = [moment for moment in part.events if moment.kind == "ended"]
    if not ends:
        return None
    how = ends[-1].data.get("how")
    text = ends[-1].text
    word = str(how)[:40] if how else text[:40] or "finished"
    crash = {key: value for key, value in ends[-1].data.items() if key != "how"}
    return Ending(word, "" if text == how else text, ends[-1].step, crash)


def _same_event(event: Event, second: Event) -> bool:
    """Whether two events are one: the same words, or crashes of which one quotes the other."""
    if event.kind not in _LAST_WORDS:
        return event == second
    a, b = event.text[:_SAME_TEXT], second.text[:_SAME_TEXT]
    return second.kind in _LAST_WORDS and bool(a) and bool(b) and (a in second.text or b in event.text)


def _final(event: Event, time: float, ends: list[Event], end: float | None) -> bool:
    """Whether a printed crash is the recorded one: its traceback, printed at the very end."""
    if not ends or event.kind not in _LAST_WORDS or end is None:
        return False
    return event.step == ends[-1].step and abs(time - end) <= _AT_THE_END
