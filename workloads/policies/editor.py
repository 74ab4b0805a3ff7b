"""A policy while it is edited: its text as YAML, the rules in it, and every problem at its line."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from policies.conflicts import path_in_tree
from policies.models import Policy, dump_rules
from policies.rules import Rule
from policies.services import check_policy
from policies.tree import read_tree, write_tree
from projects.scopes import OwningScope
from spec.formats import documents
from spec.formats.documents import Document
from spec.formats.lines import LineProblem, ParsedYaml, YamlError, parse_yaml
from spec.kind import WorkloadKind
from spec.problems.errors import Path, Problem, SpecError, path_text

NAME = ("name",)


@dataclass
class PolicyText:
    """The text of a policy for a scope and a kind of workload. ``rules`` are those in the text,
    ``None`` while they cannot be read. ``checked`` are the rules that would be saved, ``None``
    while anything is wrong."""

    text: str
    scope: OwningScope
    kind: WorkloadKind
    name: str
    rules: tuple[Rule, ...] | None = None
    checked: tuple[Rule, ...] | None = None
    tree: Document = field(default_factory=dict)
    problems: list[LineProblem] = field(default_factory=list)
    name_problems: list[str] = field(default_factory=list)
    #: The problems by their path in the tree.
    found: list[Problem] = field(default_factory=list)

    def __post_init__(self) -> None:
        try:
            parsed = parse_yaml(self.text) if self.text.strip() else ParsedYaml({}, {})
        except YamlError as error:
            self.problems = list(error.problems)
            return
        self.tree = parsed.values
        try:
            self.rules = read_tree(parsed.values, self.kind)
            self.checked = check_policy(
                parsed.values, scope=self.scope, kind=self.kind, name=self.name.strip()
            )
        except SpecError as error:
            self.found = list(error.problems)
        for problem in self.found:
            if problem.path == NAME:
                self.name_problems.append(problem.message)
            else:
                self.problems.append(_line_problem(problem, parsed))
        self.problems.sort(key=lambda problem: problem.line)

    @property
    def is_valid(self) -> bool:
        return self.checked is not None

    @property
    def first_bad_line(self) -> int:
        return next((problem.line for problem in self.problems if problem.line), 0)

    def problems_of(self, rule: Rule) -> list[str]:
        """Return what is wrong with one rule of the text."""
        path = path_in_tree(rule, self.kind)
        return [it.message for it in self.found if _is_below(it.path, path)]

    def policy(self) -> Policy:
        """Return the checked policy, unsaved."""
        policy = Policy(name=self.name.strip(), kind=self.kind)
        policy.set_scope(self.scope)
        policy.rules_json = dump_rules(self.checked or ())
        return policy

    def with_rules(self, rules: Iterable[Rule]) -> "PolicyText":
        """Return the policy with other rules."""
        text = write_text(tuple(rules), self.kind)
        return PolicyText(text, self.scope, self.kind, self.name)


def write_text(rules: tuple[Rule, ...], kind: WorkloadKind) -> str:
    tree = write_tree(rules, kind)
    return documents.to_yaml(tree) if tree else ""


def _line_problem(problem: Problem, parsed: ParsedYaml) -> LineProblem:
    place = path_text(problem.path)
    return LineProblem(parsed.line_of(problem.path), f"{place} {problem.message}".strip())


def _is_below(path: Path, parent: Path) -> bool:
    return path[: len(parent)] == parent
