"""Commands for policies: what workloads may be, by scope and kind of workload."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard_cli.errors import CliError, reason_of, wrong_use
from trainyard_cli.invocation import Invocation, NoHeaders, Output, ProjectName, current_invocation
from trainyard_cli.notes import print_note
from trainyard_cli.show import (
    Item,
    TextColumn,
    format_age,
    print_columns,
    print_document,
    print_list,
)

PATH = "/policy"
SIMULATION_PATH = "/policies/simulate"


class Kind(str, Enum):
    """Kinds of workloads that have policies."""

    DISTRIBUTED = "distributed"
    TRAINING = "training"
    WORKSPACE = "workspace"

    @property
    def path(self) -> str:
        """Where REST has the policy."""
        return f"{PATH}/{self.value}{'' if self is Kind.DISTRIBUTED else 's'}"


KindName = Annotated[Kind, typer.Argument(help="Which workloads the policy is about.")]
Account = Annotated[bool, typer.Option("--account", help="The policy of the whole account.")]
ClusterId = Annotated[str, typer.Option("--cluster", help="The policy of a cluster, by id.")]
DepartmentId = Annotated[
    str, typer.Option("--department", help="The policy of a department, by id.")
]
PolicyFile = Annotated[
    Path, typer.Option("--file", "-f", help="A policy as YAML or JSON; - reads standard input.")
]
COLUMNS = (
    TextColumn("NAME", lambda it: it["meta"]["name"]),
    TextColumn("KIND", lambda it: it["type"]),
    TextColumn("SCOPE", lambda it: it["meta"]["scope"]),
    TextColumn("CHANGED", lambda it: format_age(it["meta"]["updatedAt"])),
    TextColumn("BY", lambda it: it["meta"]["updatedBy"] or "–"),
    TextColumn("PROBLEM", lambda it: it["status"]["validation"]["errorMessage"] or "–"),
    TextColumn("ID", lambda it: it["meta"]["id"], wide=True),
)
SIMULATION_COLUMNS = (
    TextColumn("WORKLOAD", lambda it: it["workloadName"]),
    TextColumn("OUTCOME", lambda it: it["outcome"]),
    TextColumn("WHY", lambda it: _reasons(it) or "–"),
    TextColumn("ID", lambda it: it["workloadId"], wide=True),
)


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the commands."""
    group = typer.Typer(help="Rules and defaults for workloads.", no_args_is_help=True)
    group.command("list")(list_policies)
    group.command("get")(get)
    group.command("apply")(apply)
    group.command("simulate")(simulate)
    group.command("delete")(delete)
    app.add_typer(group, name="policy")


def list_policies(
    context: typer.Context, output: Output = None, no_headers: NoHeaders = False
) -> None:
    """Policies that apply to your projects."""
    policies = list(current_invocation(context).client.pages(PATH, "policies"))
    print_list(
        policies,
        COLUMNS,
        output,
        headers=not no_headers,
        name=lambda it: str(it["meta"]["name"]),
        empty="No policies yet.",
    )


def get(
    context: typer.Context,
    kind: KindName,
    project: ProjectName = "",
    department: DepartmentId = "",
    cluster: ClusterId = "",
    account: Account = False,
    effective: Annotated[
        bool, typer.Option("--effective", help="All rules that hold there, and whose they are.")
    ] = False,
    output: Output = None,
) -> None:
    """Print the policy of a scope as a file for apply. The scope is the project unless another is
    named."""
    invocation = current_invocation(context)
    place = _place(invocation, project, department, cluster, account=account)
    answer = invocation.client.get(kind.path, **place)
    if effective:
        if not print_document(answer["effectiveRules"], output):
            print_columns([("FIELD", "RULE", "VALUE", "SCOPE", "POLICY", "WHY"), *_rows(answer)])
        return
    if answer["policy"] is None:
        print_note("It has no policy of its own. What holds there: --effective")
        return
    import yaml

    policy = {key: value for key, value in answer["policy"].items() if key != "status"}
    document = {"type": kind.value, "meta": _meta(answer["meta"]), "policy": policy}
    if not print_document(document, output):
        print(yaml.safe_dump(document, sort_keys=False, allow_unicode=True), end="")


def apply(
    context: typer.Context,
    file: PolicyFile,
    project: ProjectName = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check the policy, and save nothing.")
    ] = False,
    confirm: Annotated[
        bool,
        typer.Option("--confirm", help="Save the policy even if it refuses all recent workloads."),
    ] = False,
) -> None:
    """Create the policy in a file, or replace the one of its scope."""
    invocation = current_invocation(context)
    text, document = _read_policy(file)
    kind, meta = _kind_and_meta(invocation, file, document, project)
    body = {"meta": meta, "policy": document.get("policy") or {}}
    query = {"validateOnly": "true"} if dry_run else {}
    if confirm:
        query["confirm"] = "true"
    with _problems_at_lines(text):
        invocation.client.send("PUT", kind.path, body, query=query)
    done = "is valid; nothing was saved" if dry_run else "is applied"
    print_note(f"Policy {meta.get('name')} {done}.")


def simulate(
    context: typer.Context,
    file: PolicyFile,
    project: ProjectName = "",
    output: Output = None,
    no_headers: NoHeaders = False,
) -> None:
    """Say what the policy in a file would do to the last 100 workloads of its scope."""
    invocation = current_invocation(context)
    text, document = _read_policy(file)
    kind, meta = _kind_and_meta(invocation, file, document, project)
    body = {"workloadType": kind.value, "meta": meta, "policy": document.get("policy") or {}}
    with _problems_at_lines(text):
        answer = invocation.client.send("POST", SIMULATION_PATH, body)
    print_list(
        answer["workloads"],
        SIMULATION_COLUMNS,
        output,
        headers=not no_headers,
        name=lambda it: str(it["workloadName"]),
        empty="There are no workloads of this kind in its scope yet.",
    )
    counts = answer["counts"]
    print_note(", ".join(f"{count} {outcome}" for outcome, count in counts.items()) + ".")
    if hidden := answer["hidden"]:
        print_note(f"{hidden} more in its scope not looked at: you do not have access to them.")


@contextmanager
def _problems_at_lines(text: str) -> Iterator[None]:
    """Name the lines of a file's text whose fields an answer refuses."""
    from trainyard_cli.rest.client import Refusal

    try:
        yield
    except Refusal as error:
        lines = [
            f"  line {_line_of(text, field)}: {field}: {fault}" for field, fault in error.issues
        ]
        raise CliError(error.message, error.todo, code=error.code, lines=lines) from error


def delete(
    context: typer.Context,
    file: PolicyFile,
    project: ProjectName = "",
) -> None:
    """Delete the policy of the scope and kind in a file."""
    invocation = current_invocation(context)
    _, document = _read_policy(file)
    kind, meta = _kind_and_meta(invocation, file, document, project)
    place = {key: value for key, value in meta.items() if key != "name"}
    invocation.client.send("DELETE", kind.path, query=place)
    print_note(f"Deleted the policy of {kind.value} workloads of this {meta['scope']}.")


def _place(
    invocation: Invocation, project: str, department: str, cluster: str, *, account: bool
) -> Item:
    """Return the scope that was typed, as the query of a request."""
    given = [bool(project), bool(department), bool(cluster), account]
    if sum(given) > 1:
        raise wrong_use("Name one scope: --project, --department, --cluster or --account.")
    if account:
        return {"scope": "tenant"}
    if department:
        return {"scope": "department", "departmentId": department}
    if cluster:
        return {"scope": "cluster", "clusterId": cluster}
    return {"scope": "project", "projectId": invocation.project(project)["id"]}


def _meta(meta: Item) -> Item:
    """Return the name and the scope of a policy, as requests have them."""
    scope = meta["scope"]
    key = f"{scope}Id"
    return {"name": meta["name"], "scope": scope, **({key: meta[key]} if key in meta else {})}


def _rows(answer: Item) -> list[tuple[str, ...]]:
    return [
        (
            rule["field"],
            rule["enforcement"],
            str(rule["value"]),
            rule["sourceOfRule"]["scope"],
            rule["sourceOfRule"]["name"],
            rule["why"] or "–",
        )
        for rule in answer["effectiveRules"]
    ]


def _reasons(row: Item) -> str:
    """Return why a workload would be refused, or which values would differ."""
    problems = [f"{it['field']} {it['details']}" for it in row["problems"]]
    changes = [f"{it['field']}: {it['before']} → {it['after']}" for it in row["changes"]]
    return "; ".join(problems or changes)


def _read_policy(file: Path) -> tuple[str, Item]:
    """Return the text of a file, and the policy in it. Raises ``CliError``."""
    import yaml

    try:
        text = sys.stdin.read() if str(file) == "-" else file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise wrong_use(f"{file} cannot be read: {reason_of(error)}.") from error
    try:
        document = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise wrong_use(f"{file} is not valid YAML: {error}") from error
    if not isinstance(document, dict):
        raise wrong_use(f"{file} is not a policy: it needs type, meta and policy.")
    return text, document


def _kind_and_meta(
    invocation: Invocation, file: Path, document: Item, project: str
) -> tuple[Kind, Item]:
    """Return the kind of workload, the name and the scope in a file. The scope is the project
    unless the file names one. Raises ``CliError``."""
    kinds = [kind.value for kind in Kind]
    if document.get("type") not in kinds:
        raise wrong_use(f"{file}: type must be one of {', '.join(kinds)}.")
    meta = document.get("meta") or {}
    if not isinstance(meta, dict):
        raise wrong_use(f"{file}: meta must have the name and the scope of the policy.")
    if "scope" not in meta or project:
        place = _place(invocation, project, "", "", account=False)
        meta = {"name": meta.get("name", ""), **place}
    return Kind(document["type"]), meta


def _line_of(text: str, field: str) -> int:
    """Return the line of a field, or of the nearest part of the file that contains it."""
    import yaml

    node: Any = yaml.compose(text)
    line = 1
    for step in field.split("."):
        found = None
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == step), None)
        elif isinstance(node, yaml.SequenceNode) and step.isdigit():
            items = node.value[int(step) : int(step) + 1]
            found = (items[0], items[0]) if items else None
        if found is None:
            break
        line = found[0].start_mark.line + 1
        node = found[1]
    return line
