"""What tools answer: a short text, and the same as fields that a program can rely on."""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal

from mcp_types import CallToolResult, ContentBlock, TextContent
from pydantic import BaseModel, Field

_LONGEST = 14_000
# Curves drawn with letters: many tokens, and numbers say more.
_DRAWN = re.compile(r"[ ▁▂▃▄▅▆▇█×]*[▁▂▃▄▅▆▇█×]{6}[ ▁▂▃▄▅▆▇█×]*| ?─{4,}")  # noqa: RUF001


class ToolAnswer(BaseModel):
    """The answer of a command, or the job that is still at it."""

    status: Literal["done", "running", "cancelled"]
    answer: str
    meaning: str = ""
    job: str = Field(default="", description="While it runs: ask the tool job for this id.")
    seconds: float
    files: list[str] = Field(default=[], description="What was written.")
    document: dict[str, Any] = Field(default={}, description="With details: the whole JSON.")


class FoundRun(BaseModel):
    """One run below a folder, and the first and last value of its main curve."""

    path: str
    name: str
    format: str
    last: str
    curve: str


class FoundRuns(BaseModel):
    """The runs below a folder, the newest first."""

    total: int
    runs: list[FoundRun]
    left_out: int
    not_read: int


class NextQuestion(BaseModel):
    """Where an interview stands: the ranked causes so far, and what to ask next."""

    verdict: str
    causes: list[dict[str, Any]]
    question: str | None = Field(description="Its id: give the answer under this name.")
    ask: str
    options: dict[str, str]
    contradictions: list[str]


class KnownPage(BaseModel):
    """A page of what traindx knows."""

    id: str
    markdown: str


AnswerResult = Annotated[CallToolResult, ToolAnswer]
RunsResult = Annotated[CallToolResult, FoundRuns]
QuestionResult = Annotated[CallToolResult, NextQuestion]
PageResult = Annotated[CallToolResult, KnownPage]


def result(text: str, data: BaseModel, *more: ContentBlock) -> CallToolResult:
    """Text for whoever reads, fields for programs."""
    content: list[ContentBlock] = [TextContent(type="text", text=text), *more]
    return CallToolResult(content=content, structured_content=data.model_dump(mode="json"))


def shortened(text: str) -> str:
    """No answer floods a context: no drawings, and of what is too long the beginning and the end."""
    text = _DRAWN.sub("  ", text.strip("\n"))
    if len(text) <= _LONGEST:
        return text
    half = _LONGEST // 2
    return f"{text[:half]}\n[{len(text) - 2 * half:,} characters left out]\n{text[-half:]}"


def json_of(text: str) -> dict[str, Any]:
    """The document that a command printed; raises ValueError."""
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("no object")
    return document
