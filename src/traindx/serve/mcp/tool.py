"""A function as a tool: a short schema, and errors in one line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ValidationError

from traindx.report.text import visible

_FRONT = "Error executing tool {}: "


class PlainTool(Tool):
    """Arguments that do not fit are answered with one line that names them and says what they should be."""

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        unknown = sorted(set(arguments) - set(self.parameters["properties"]))
        if unknown:
            parameters = ", ".join(self.parameters["properties"])
            raise ToolError(
                f"{self.name} has no argument {visible(unknown[0], 60)!r}; it takes {parameters}."
            )
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            if isinstance(error, UnexpectedToolError):
                raise
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{self.name}: {_one_line(error.__cause__)}") from error.__cause__
            raise ToolError(str(error).removeprefix(_FRONT.format(self.name))) from error.__cause__


def as_tool(function: Callable[..., Any], annotations: ToolAnnotations) -> PlainTool:
    """The docstring is the description; titles, which repeat the names, are left out of the schemas."""
    tool = PlainTool.from_function(function, annotations=annotations, description=_text(function))
    assert isinstance(tool, PlainTool)
    tool.parameters = _without_titles(tool.parameters)
    schema = tool.fn_metadata.output_schema
    tool.fn_metadata.output_schema = _without_titles(schema) if schema is not None else None
    return tool


def _text(function: Callable[..., Any]) -> str:
    return " ".join((function.__doc__ or "").split())


def _one_line(error: ValidationError) -> str:
    parts = []
    for entry in error.errors()[:3]:
        where = ".".join(str(part) for part in entry["loc"])
        parts.append(f"{where}: {entry['msg'].lower()}")
    return visible("; ".join(parts), 400) + ". Its schema says what it takes."


def _without_titles(schema: Any) -> Any:
    """Schemas are read by a model at every start: nothing is in them twice."""
    if isinstance(schema, list):
        return [_without_titles(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    untitled = {}
    for name, value in schema.items():
        if name == "properties":
            untitled[name] = {key: _without_titles(member) for key, member in value.items()}
        elif not (name == "title" and isinstance(value, str)):
            untitled[name] = _without_titles(value)
    return untitled
