"""Parse YAML written by people: values together with their line numbers.

It accepts less than YAML, so that nothing is lost or reinterpreted: one document, besides empty
ones, unique text keys, no tags; dates stay text. Anchors and merges repeat values up to a limit.
"""

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import yaml

from spec.formats.foreign import IS_WORKFLOW, WORKFLOW, is_workflow, line_of_workflow
from spec.problems.errors import Path

LONGEST = 200_000  # characters
MOST_BITS = 63  # of an integer, as in a JSON request
DEEPEST = 30  # levels; a spec has eight
#: Characters and values with everything that anchors repeat. A text without them has fewer.
MOST_REPEATED = 2 * LONGEST
TOO_REPEATED = f"Anchors repeat more than {MOST_REPEATED} characters; write less, or repeat less"
MERGE = "<<"
#: What Helm and Jinja replace, where YAML has a line or a value: ``{{ … }}`` and ``{% … %}``. No
#: braces inside: a search for the end from each of many beginnings would take minutes.
PLACEHOLDER = re.compile(r"(?:^\s*|[:-]\s+)(\{\{[^{}]*\}\}|\{%[^{}]*%\})")
NOT_FILLED_IN = (
    "This is a template: {} has to be filled in first, such as with helm template or Jinja"
)
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
    """Recognizes only numbers, booleans and null; everything else is text, including dates."""

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
    """Parse a text that is not a workflow. ``YamlError`` names every wrong line."""
    if line := line_of_workflow(text):
        raise YamlError([LineProblem(line, IS_WORKFLOW)])
    parsed = parse_mapping(text)
    if is_workflow(parsed.values):
        raise YamlError([LineProblem(parsed.lines[WORKFLOW,], IS_WORKFLOW)])
    return parsed


def parse_mapping(text: str) -> ParsedYaml:
    """Parse a text of ``key: value`` lines. ``YamlError`` names every wrong line."""
    if len(text) > LONGEST:
        raise YamlError([LineProblem(0, f"The text is longer than {LONGEST} characters")])
    try:
        _check_events(text)
        loader = Loader(text)
        nodes = list(_whole_documents(loader))
    except yaml.MarkedYAMLError as error:
        raise YamlError([_syntax_problem(error, text)]) from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = "There is a character that YAML does not allow; write its escape in double quotes"
        raise YamlError([LineProblem(line, message)]) from error
    if not nodes:
        raise YamlError([LineProblem(0, "There is nothing here; paste a workload")])
    node, *others = nodes
    if others:
        raise YamlError(
            [LineProblem(_line_of(others[0]), "A second document begins here; keep one")]
        )
    if not isinstance(node, yaml.MappingNode):
        raise YamlError(
            [LineProblem(_line_of(node), "Write “key: value” lines, such as name: train")]
        )
    builder = _Builder(loader, text)
    values = builder.value(node, ())
    if builder.problems:
        raise YamlError(builder.problems)
    return ParsedYaml(values, builder.lines)


def _whole_documents(loader: Loader) -> Iterator[yaml.Node]:
    """Yield the documents of a text without empty ones, such as what follows a ``---`` at its
    end."""
    while loader.check_node():
        node = loader.get_node()
        if node is not None and (not isinstance(node, yaml.ScalarNode) or node.value):
            yield node


def _check_events(text: str) -> None:
    """Refuse what would be expensive to parse, or would not mean what it seems to."""
    depth = 0
    refused = []
    for event in yaml.parse(text, Loader=Loader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > DEEPEST:
            raise YamlError([LineProblem(line, f"This is nested deeper than {DEEPEST} levels")])
        if getattr(event, "tag", None) not in {None, "!"}:
            refused.append(
                LineProblem(line, "Tags are not supported; leave out what begins with !")
            )
    if refused:
        raise YamlError(refused)


def _syntax_problem(error: yaml.MarkedYAMLError, text: str) -> LineProblem:
    """Return the problem of a text that is not valid, which is often that it is a template."""
    mark = error.problem_mark or error.context_mark
    for number, line in enumerate(text.split("\n"), 1):
        placeholder = PLACEHOLDER.search(line)
        if placeholder:
            return LineProblem(number, NOT_FILLED_IN.format(placeholder[1]))
    return LineProblem(mark.line + 1 if mark else 0, f"This is not valid YAML: {error.problem}")


def _is_merge(key: yaml.Node) -> bool:
    """Whether a key is ``<<`` without quotes."""
    return isinstance(key, yaml.ScalarNode) and key.value == MERGE and key.style is None


def _line_of(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


class _Builder:
    """Converts nodes to values, and continues after faults to report all of them."""

    def __init__(self, loader: Loader, text: str) -> None:
        self.loader = loader
        self.text_lines = text.split("\n")
        self.lines: dict[Path, int] = {}
        self.problems: list[LineProblem] = []
        self.size = 0
        self.depth = 0

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.lines.setdefault(path, _line_of(node))
        self._count(node)
        if isinstance(node, yaml.MappingNode):
            with self._one_level_deeper(node):
                return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            with self._one_level_deeper(node):
                items = enumerate(node.value)
                return [self.value(item, (*path, number)) for number, item in items]
        return self._scalar(node)

    @contextmanager
    def _one_level_deeper(self, node: yaml.Node) -> Iterator[None]:
        """Raises ``YamlError`` where anchors lead too deep, such as one that contains itself."""
        self.depth += 1
        if self.depth > DEEPEST:
            message = f"Anchors make this deeper than {DEEPEST} levels"
            raise YamlError([LineProblem(_line_of(node), message)])
        yield
        self.depth -= 1

    def _count(self, node: yaml.Node) -> None:
        """Count a value. Raises ``YamlError`` where anchors in anchors repeat too much."""
        self.size += 1 + (len(node.value) if isinstance(node, yaml.ScalarNode) else 0)
        if self.size > MOST_REPEATED:
            raise YamlError([LineProblem(_line_of(node), TOO_REPEATED)])

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        values: dict[str, Any] = {}
        merges = [value for key, value in node.value if _is_merge(key)]
        merged = self._merged_values(merges, path)
        for key_node, value_node in node.value:
            if _is_merge(key_node):
                continue
            line = _line_of(key_node)
            key = self._scalar(key_node) if isinstance(key_node, yaml.ScalarNode) else None
            if not isinstance(key, str):
                self._refuse(line, self._explain_key(line))
                continue
            if key in values:
                first = self.lines[(*path, key)]
                self._refuse(line, f"{key} is given twice, first in line {first}")
                continue
            self._count(key_node)
            self.lines[(*path, key)] = line
            values[key] = self.value(value_node, (*path, key))
        return {**merged, **values}

    def _merged_values(self, nodes: list[yaml.Node], path: Path) -> dict[str, Any]:
        """Return the values of the mappings that ``<<`` names; the first one with a key wins."""
        merged: dict[str, Any] = {}
        for node in nodes:
            for source in node.value if isinstance(node, yaml.SequenceNode) else [node]:
                if not isinstance(source, yaml.MappingNode):
                    self._refuse(_line_of(node), "<< takes a mapping, such as *defaults")
                    continue
                self._count(source)
                with self._one_level_deeper(source):
                    merged = {**self._mapping(source, path), **merged}
        return merged

    def _explain_key(self, line: int) -> str:
        """Return why a key cannot be used: it is a placeholder of a template, or no text."""
        placeholder = PLACEHOLDER.search(self.text_lines[line - 1])
        if placeholder:
            return NOT_FILLED_IN.format(placeholder[1])
        return "A key must be text; put it in quotes"

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
