"""YAML as a person wrote it: its values, and the line of each.

Narrower than YAML, so that nothing is lost or turned into something else: one document, each key
once and a text, no anchors, no tags, dates stay text.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import yaml

from spec.problems.errors import Path

LONGEST = 200_000  # characters
MOST_BITS = 63  # of a number, as in the JSON of a request
DEEPEST = 30  # levels; a spec has eight
KEPT_TAGS = {f"tag:yaml.org,2002:{name}" for name in ("null", "bool", "int", "float")}


@dataclass(frozen=True)
class LineProblem:
    """``line`` counts from 1; 0 is the text as a whole."""

    line: int
    message: str

    @property
    def sentence(self) -> str:
        return self.message if self.message.endswith((".", "?")) else f"{self.message}."


class YamlError(ValueError):
    """A text that cannot be taken over; carries every problem at once."""

    def __init__(self, problems: Iterable[LineProblem]) -> None:
        self.problems = tuple(sorted(set(problems), key=lambda problem: problem.line))
        super().__init__("; ".join(f"line {it.line}: {it.message}" for it in self.problems))


class Loader(yaml.SafeLoader):
    """Numbers, true, false and null; all else is text, dates and ``<<`` too."""

    yaml_implicit_resolvers = {
        first: [rule for rule in rules if rule[0] in KEPT_TAGS]
        for first, rules in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


@dataclass(frozen=True)
class Lined:
    """A mapping, and the line of each of its keys and items by path."""

    values: dict[str, Any]
    lines: dict[Path, int]

    def line_of(self, path: Path) -> int:
        """Of what stands there, or of the nearest thing around it."""
        ways = (path[:length] for length in range(len(path), -1, -1))
        return next((self.lines[way] for way in ways if way in self.lines), 0)


def read(text: str) -> Lined:
    """``YamlError`` with every line that is wrong."""
    if len(text) > LONGEST:
        raise YamlError([LineProblem(0, f"The text is longer than {LONGEST} characters")])
    try:
        _scan(text)
        loader = Loader(text)
        node = loader.get_single_node()
    except yaml.MarkedYAMLError as error:
        raise YamlError([_syntax(error)]) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = "There is a character that YAML does not allow; write its escape in double quotes"
        raise YamlError([LineProblem(line, message)]) from error
    if node is None or (isinstance(node, yaml.ScalarNode) and not node.value):
        raise YamlError([LineProblem(0, "There is nothing here; paste a workload")])
    if not isinstance(node, yaml.MappingNode):
        raise YamlError([LineProblem(_line(node), "Write “key: value” lines, such as name: train")])
    builder = _Builder(loader)
    values = builder.value(node, ())
    if builder.problems:
        raise YamlError(builder.problems)
    return Lined(values, builder.lines)


def _scan(text: str) -> None:
    """Refuses what would cost much, or mean something else than it says."""
    depth, documents, refused = 0, 0, []
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


def _syntax(error: yaml.MarkedYAMLError) -> LineProblem:
    mark = error.problem_mark or error.context_mark
    return LineProblem(mark.line + 1 if mark else 0, f"This is not valid YAML: {error.problem}")


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


class _Builder:
    """Values of nodes; what is wrong with some does not keep the others from being looked at."""

    def __init__(self, loader: Loader) -> None:
        self.loader = loader
        self.lines: dict[Path, int] = {}
        self.problems: list[LineProblem] = []

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.lines.setdefault(path, _line(node))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            items = enumerate(node.value)
            return [self.value(item, (*path, number)) for number, item in items]
        return self._scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line = _line(key_node)
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
        except ValueError:  # a number of more digits than Python reads
            return self._refuse(_line(node), f"{node.value[:40]} is not a number that can be used")
        too_wide = isinstance(value, int) and value.bit_length() > MOST_BITS
        if too_wide or (isinstance(value, float) and not math.isfinite(value)):
            return self._refuse(_line(node), f"{node.value[:40]} is not a number that can be used")
        if isinstance(value, str) and not _is_storable(value):
            return self._refuse(_line(node), "There is a character that cannot be stored")
        return value

    def _refuse(self, line: int, message: str) -> None:
        self.problems.append(LineProblem(line, message))


def _is_storable(text: str) -> bool:
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
