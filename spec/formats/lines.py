"""Parse YAML written by people: values together with their line numbers.

It accepts less than YAML, so that nothing is lost or reinterpreted: one document, unique text keys,
no anchors, no tags; dates stay text.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from spec.problems.errors import Path

LONGEST = 200_000  # characters
MOST_BITS = 63  # of an integer, as in a JSON request
DEEPEST = 30  # levels; a spec has eight
KEPT_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


@dataclass(frozen=True)
class LineProblem:
    """A problem in the text. ``line`` counts from 1; 0 stands for the whole text."""

    line: int
    message: str

    @property
    def sentence(self) -> str:
        return self.message if self.message.endswith((".", "?")) else f"{self.message}."


class YamlError(ValueError):
    """The text cannot be accepted; carries every problem."""

    def __init__(self, problems: Iterable[LineProblem]) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda problem: problem.line))
        super().__init__("; ".join(f"line {it.line}: {it.message}" for it in self.problems))


class Loader(yaml.SafeLoader):
    """Recognizes only numbers, booleans and null; everything else is text, including dates and
    ``<<``."""

    yaml_implicit_resolvers = {
        first: [rule for rule in rules if rule[0] in KEPT_TAGS]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


@dataclass(frozen=True)
class ParsedYaml:
    """A parsed mapping, with the line of each key and item by path."""

    values: dict[str, Any]
    lines: dict[Path, int]

    def line_of(self, path: Path) -> int:
        """The line of a value, or of the nearest enclosing one."""
        ways = (path[:length] for length in range(len(path), -1, -1))
        return next((self.lines[way] for way in ways if way in self.lines), 0)


def parse_yaml(text: str) -> ParsedYaml:
    """Parse a text. ``YamlError`` names every wrong line."""
    if len(text) > LONGEST:
        raise YamlError([LineProblem(0, f"The text is longer than {LONGEST} characters")])
    try:
        _check_events(text)
        loader = Loader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise YamlError([_syntax_problem(error)]) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = "There is a character that YAML does not allow; write its escape in double quotes"
        raise YamlError([LineProblem(line, message)]) from error
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        raise YamlError([LineProblem(0, "There is nothing here; paste a workload")])
    if not isinstance(node, yaml.MappingNode):
        raise YamlError(
            [LineProblem(_line_of(node), "Write “key: value” lines, such as name: train")]
        )
    builder = _Builder(loader)
    values = builder.value(node, ())
    if builder.problems:
        raise YamlError(builder.problems)
    return ParsedYaml(values, builder.lines)


def _check_events(text: str) -> None:
    """Refuse what would be expensive to parse, or would not mean what it seems to."""
    depth = 0
    documents = 0
    refused = []
    for event in yaml.parse(text, Loader=Loader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise YamlError([LineProblem(line, f"This is nested deeper than {DEEPEST} levels")])
        documents += isinstance(event, yaml.DocumentStartEvent)
        if documents > 1:
            raise YamlError([LineProblem(line, "A second document begins here; keep one")])
        if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
            refused.append(LineProblem(line, "Anchors are not supported; write the value out"))
        elif getattr(event, "tag", None) not in {None, "!"}:
            refused.append(
                LineProblem(line, "Tags are not supported; leave out what begins with !")
            )
    if refused:
        raise YamlError(refused)


def _syntax_problem(error: yaml.MarkedYAMLError) -> LineProblem:
    mark = error.problem_mark or error.context_mark
    return LineProblem(mark.line + 1 if mark else 0, f"This is not valid YAML: {error.problem}")


def _line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


class _Builder:
    """Converts nodes to values, and continues after faults to report all of them."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.lines: dict[Path, int] = {}
        self.problems: list[LineProblem] = []

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.lines.setdefault(path, _line_of(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items = enumerate(node.value)
            return [self.value(item, (*path, number)) for number, item in items]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = _line_of(key_node)
            key = self._scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                self._refuse(line, "A key must be text; put it in quotes")
                continue
            if key in values:
                first = self.lines[(*path, key)]
                self._refuse(line, f"{key} is given twice, first in line {first}")
                continue
            self.lines[(*path, key)] = line
            values[key] = self.value(value_node, (*path, key))
        return values

    def _scalar(self, node: yaml.Node) -> Any:
        try:
            value = self.loader.construct_object(node)
        except ValueError:  # more digits than Python converts
            return self._refuse(
                _line_of(node), f"{node.value[:40]} is not a number that can be used"
            )
        too_wide = isinstance(value, int) and value.bit_length() > MOST_BITS
        if too_wide or (isinstance(value, float) and not math.isfinite(value)):
            return self._refuse(
                _line_of(node), f"{node.value[:40]} is not a number that can be used"
            )
        if isinstance(value, str) and not _is_storable(value):
            return self._refuse(_line_of(node), "There is a character that cannot be stored")
        return value

    def _refuse(self, line: int, message: str) -> None:
        self.problems.append(LineProblem(line, message))


def _is_storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
