"""Shows what a file would change against an existing workload, or against another file."""

import sys
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Annotated, Any

import typer

from trainyard_cli import lookup
from trainyard_cli.assets import replace_names
from trainyard_cli.commands.submit import read_body, refusal_error, with_project
from trainyard_cli.errors import wrong_use
from trainyard_cli.flags.values import MASK
from trainyard_cli.invocation import Invocation, Output, ProjectName, current_invocation
from trainyard_cli.notes import print_note
from trainyard_cli.show import Format, Item, is_colored, print_document

Body = dict[str, Any]
Change = dict[str, Any]
PARTS = ("noMaster", "spec", "masterSpec")
COLORS = {"+": 32, "-": 31, "~": 33}
UNMASKED = "kept"  # sent instead of a masked value; the answer masks it again

FileOption = Annotated[Path, typer.Option("--file", "-f", help="A request body, YAML or JSON.")]
Against = Annotated[
    Path | None, typer.Option(help="Another file, such as of an export, instead of a workload.")
]


def diff(
    context: typer.Context,
    file: FileOption,
    name: Annotated[
        str, typer.Argument(help="A workload; that of the file's name if none is given.")
    ] = "",
    against: Against = None,
    project: ProjectName = "",
    exit_code: Annotated[
        bool, typer.Option("--exit-code", help="Exit with 1 where they differ.")
    ] = False,
    output: Output = None,
) -> None:
    """Show what a file would change against a workload, with all defaults on both sides."""
    invocation = current_invocation(context)
    body = with_project(invocation, read_body(file), project)
    if against:
        before = with_project(invocation, read_body(against), project)
        path = _kind_path(before)
        current = complete(invocation, path, before)
    else:
        workload_name = name or body.get("name") or ""
        if not workload_name:
            raise wrong_use("Name the workload: the file has no name.")
        row = lookup.find_workload(invocation, workload_name, project)
        path = lookup.PATHS[row["type"]]
        current = _parts(invocation.client.get(f"/workloads/{row['id']}", expand="spec"))
    changes = list(find_changes(current, complete(invocation, path, body)))
    _print_changes(changes, output)
    if changes and exit_code:
        raise typer.Exit(1)


def _kind_path(body: Body) -> str:
    """Return the path in REST of the kind that a file describes. An exported file does not name its
    kind, but only distributed trainings have a framework."""
    return "distributed" if body["spec"].get("distributedFramework") else "trainings"


def complete(invocation: Invocation, path: str, body: Body) -> Body:
    """Return a request with all its defaults, as the server completes it in a dry run.

    The dry run uses a free name, because that of the workload is taken. Raises ``CliError`` if the
    request would be refused.
    """
    body = replace_names(invocation, _replace_masks(body), {})
    body |= {"name": body.get("name") or "diff", "useGivenNameAsPrefix": True}
    answer = invocation.client.post(f"/workloads/{path}", body, dryRun="true")
    if answer["spec"] is None:
        raise refusal_error(answer["complianceIssues"], "The file is refused.")
    return _parts(answer | {"noMaster": body.get("noMaster", False)})


def _parts(workload: Item) -> Body:
    """Return the parts of a request that are compared, without empty ones."""
    return {part: workload[part] for part in PARTS if workload.get(part)}


def _replace_masks(value: Any) -> Any:
    """Return a copy with another text in place of masked values, which a request must not
    contain."""
    if isinstance(value, dict):
        return {key: _replace_masks(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replace_masks(it) for it in value]
    return UNMASKED if value == MASK else deepcopy(value)


def find_changes(before: Any, after: Any, path: str = "") -> Iterator[Change]:
    """Yield the differences of two specs, each with its path and both values.

    Items of lists are matched by name if all have one, else by position.
    """
    before_items = _by_key(before)
    after_items = _by_key(after)
    if before_items is None or after_items is None:
        if before != after:
            yield {"path": path, "before": before, "after": after}
        return
    for key in {**before_items, **after_items}:
        dot = "." if path and not key.startswith("[") else ""
        inner_path = f"{path}{dot}{key}"
        yield from find_changes(before_items.get(key), after_items.get(key), inner_path)


def _by_key(value: Any) -> dict[str, Any] | None:
    """Return a dict as it is, and a list as a dict by name or position. ``None`` for plain
    values."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return None
    names = [it.get("name") if isinstance(it, dict) else None for it in value]
    is_named = all(isinstance(it, str) and it for it in names) and len(set(names)) == len(names)
    keys = names if is_named else range(len(value))
    return {f"[{key}]": it for key, it in zip(keys, value, strict=True)}


def _print_changes(changes: list[Change], output: Format | None) -> None:
    """Print one line for each change, in color on a terminal."""
    if print_document(changes, output):
        return
    if not changes:
        print_note("No differences.")
    for change in changes:
        before = change["before"]
        after = change["after"]
        sign = "~"
        if before is None:
            sign = "+"
        elif after is None:
            sign = "-"
        values = " → ".join(_text(it) for it in (before, after) if it is not None)
        line = f"{sign} {change['path']}: {values}"
        print(f"\033[{COLORS[sign]}m{line}\033[0m" if is_colored(sys.stdout) else line)


def _text(value: Any) -> str:
    import json

    if isinstance(value, dict):  # without empty fields, as people write it
        value = {key: it for key, it in value.items() if it not in (None, "", [], {})}
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
