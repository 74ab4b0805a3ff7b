"""Loads the text of a workflow file: divided, rendered, parsed, its fields known, its parts in
agreement. It reports all mistakes of a stage at once, with their lines in the file."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from spec.formats.lines import LineProblem, YamlError, parse_mapping
from spec.problems.errors import Path, Problem, path_text, problems_in
from workflows.imports.checks import check_workflow
from workflows.imports.osmo import OsmoDocument, OsmoWorkflow
from workflows.imports.sections import split_sections
from workflows.imports.templates import mask_tokens, render_sections, restore_tokens

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True)
class FileLines:
    """The line of the file for each path of its values."""

    by_path: Mapping[Path, int]

    def line_of(self, path: Path) -> int:
        """Return the line of a value, or of the nearest enclosing one."""
        ways = (path[:length] for length in range(len(path), -1, -1))
        return next((self.by_path[way] for way in ways if way in self.by_path), 0)

    def error(self, problems: Iterable[Problem]) -> YamlError:
        """Return problems of paths as an error with their lines."""
        return YamlError(
            LineProblem(self.line_of(it.path), f"{path_text(it.path)}: {it.message}")
            for it in problems
        )


@dataclass(frozen=True)
class ReadWorkflow:
    """A workflow file that holds together. ``rendered`` is its text without templates,
    ``dropped_line`` the first line that belongs to no section, or 0."""

    workflow: OsmoWorkflow
    rendered: str
    lines: FileLines
    dropped_line: int = 0

    @property
    def local_paths(self) -> tuple[str, ...]:
        """The files that have to come with it, by their paths from its folder."""
        paths = [
            file.localpath
            for group in self.workflow.placed_groups()
            for placed in group.tasks
            for file in placed.task.files
            if file.localpath is not None
        ]
        return tuple(dict.fromkeys(paths))


def read_workflow(text: str, settings: Mapping[str, Any] = NOTHING) -> ReadWorkflow:
    """Read a file. ``settings`` are variables of its template, which win over its default values.

    Raises ``YamlError`` with every problem of the first stage that has any.
    """
    sections = split_sections(text)
    rendered = render_sections(sections, settings)
    try:
        # Braces of tokens would be mappings of YAML.
        parsed = parse_mapping(mask_tokens(rendered.text))
    except YamlError as error:
        raise YamlError(
            LineProblem(rendered.origin_of(problem.line), restore_tokens(problem.message))
            for problem in error.problems
        ) from None
    lines = FileLines({path: rendered.origin_of(line) for path, line in parsed.lines.items()})
    try:
        document = OsmoDocument.model_validate(_restore_values(parsed.values))
    except ValidationError as error:
        raise lines.error(problems_in(error)) from None
    read = ReadWorkflow(document.workflow, rendered.text, lines, sections.dropped)
    problems = list(check_workflow(read.workflow))
    if problems:
        raise lines.error(problems)
    return read


def _restore_values(value: Any) -> Any:
    """Return values of YAML with the braces of their tokens."""
    if isinstance(value, dict):
        return {restore_tokens(key): _restore_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_restore_values(item) for item in value]
    return restore_tokens(value) if isinstance(value, str) else value
