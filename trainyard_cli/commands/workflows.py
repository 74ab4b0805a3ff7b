"""Commands for workflows, with the options and the output of OSMO's command line."""

import json
import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from trainyard_cli.commands import tasks
from trainyard_cli.errors import CliError, ExitCode, reason_of, wrong_use
from trainyard_cli.invocation import Invocation, current_invocation
from trainyard_cli.osmo import TextOrJson, local_time, print_table
from trainyard_cli.show import Item

PATH = "/osmo/workflow"
STDIN = "-"  # in place of a file
LOW_PRIORITY = "WARNING: LOW priority can be preempted during the run."


class WorkflowPriority(str, Enum):
    HIGH = "HIGH"
    NORMAL = "NORMAL"
    LOW = "LOW"


class ListOrder(str, Enum):
    ASC = "asc"
    DESC = "desc"


WorkflowId = Annotated[str, typer.Argument(help="The ID of a workflow, such as train-3.")]
Settings = Annotated[
    Optional[list[str]],  # noqa: UP045 -- read at run time
    typer.Option("--set", help="NAME=VALUE of the template; numbers are numbers."),
]
TextSettings = Annotated[
    Optional[list[str]],  # noqa: UP045 -- read at run time
    typer.Option("--set-string", help="NAME=VALUE of the template; all are text."),
]
Variables = Annotated[
    Optional[list[str]],  # noqa: UP045 -- read at run time
    typer.Option("--set-env", help="NAME=VALUE for every task."),
]
TaskSize = Annotated[
    str,
    typer.Option(help="The size of all tasks, such as 'processes=2 gpus=0 cpu=1 memory=2G'."),
]
Pool = Annotated[
    str,
    typer.Option(
        "--pool",
        "-p",
        help="A pool or project; without one, the pool of the file, or the project that is set.",
    ),
]
FormatType = Annotated[TextOrJson, typer.Option("--format-type", "-t", help="text or json.")]


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the commands."""
    group = typer.Typer(help="Workflows: graphs of groups of tasks.", no_args_is_help=True)
    group.command("submit")(submit)
    group.command("validate")(validate)
    group.command("query")(query)
    group.command("list")(list_workflows)
    group.command("logs")(logs)
    group.command("events")(events)
    group.command("spec")(spec)
    group.command("cancel")(cancel)
    group.command("restart")(restart)
    group.command("exec")(tasks.execute)
    group.command("port-forward")(tasks.port_forward)
    app.add_typer(group, name="workflow")


def submit(
    context: typer.Context,
    file: Annotated[
        str, typer.Argument(help="A workflow file, or the ID of a workflow to submit again.")
    ],
    pool: Pool = "",
    settings: Settings = None,
    text_settings: TextSettings = None,
    variables: Variables = None,
    task_size: TaskSize = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the rendered file, and submit nothing.")
    ] = False,
    priority: Annotated[
        WorkflowPriority, typer.Option(help="HIGH, NORMAL or LOW.")
    ] = WorkflowPriority.NORMAL,
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """Submit a workflow file with the local files that it names, or an earlier workflow again."""
    invocation = current_invocation(context)
    body: Item = {}
    extra: Item = {"priority": priority.value, "env_vars": list(variables or ())}
    if file == STDIN or Path(file).exists():
        body = _file_body(Path(file), settings, text_settings)
    elif "." in Path(file).name or "/" in file:
        raise wrong_use(f"There is no file {file}.")
    elif dry_run or settings or text_settings:
        raise wrong_use("An earlier workflow is submitted as it was.", "Give its file instead.")
    else:
        extra["workflow_id"] = file
    if dry_run:
        print(_render(invocation, pool, body)["spec"], end="")
        return
    if body:
        rendered = _render(invocation, pool, body)
        body["files"] = _local_files(Path(file), rendered["local_files"])
        pool = pool or rendered["pool"]
    body["task_size"] = task_size
    answer = _post(invocation, pool, body, **extra)
    if format_type is TextOrJson.JSON:
        print(json.dumps(answer, indent=4))
        return
    print("Workflow submit successful.")
    _print_submitted(answer)
    for warning in answer["warnings"]:
        print(f"WARNING: {warning}")
    if priority is WorkflowPriority.LOW:
        print(f"\n{LOW_PRIORITY}")


def validate(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="A workflow file.")],
    pool: Pool = "",
    settings: Settings = None,
    text_settings: TextSettings = None,
    variables: Variables = None,
    task_size: TaskSize = "",
) -> None:
    """Check a workflow file, and submit nothing."""
    invocation = current_invocation(context)
    body = _file_body(file, settings, text_settings)
    rendered = _render(invocation, pool, body)
    body["files"] = _local_files(file, rendered["local_files"])
    body["task_size"] = task_size
    pool = pool or rendered["pool"]
    answer = _post(invocation, pool, body, validation_only="true", env_vars=list(variables or ()))
    print(answer["logs"])


def query(
    context: typer.Context,
    workflow_id: WorkflowId,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="With retries.")] = False,
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """Show a workflow and its tasks."""
    answer = current_invocation(context).client.get(f"{PATH}/{workflow_id}")
    if format_type is TextOrJson.JSON:
        print(json.dumps(answer, indent=2))
        return
    facts = {
        "Workflow ID": answer["name"],
        "Status": answer["status"],
        "User": answer["submitted_by"],
        "Submit Time": local_time(answer["submit_time"]),
        "Overview": answer["overview"],
    }
    lines = [f"{name:<11} : {value}" for name, value in facts.items()]
    print("=" * max(map(len, lines)))
    print("\n".join(lines))
    print()
    heads = ["Task Name", *(["Retry ID"] if verbose else []), "Start Time", "Status"]
    rows = [
        [
            task["name"],
            *([str(task["retry_id"])] if verbose else []),
            local_time(task["start_time"]),
            task["status"],
        ]
        for group in answer["groups"]
        for task in group["tasks"]
    ]
    print_table(heads, rows)


def list_workflows(
    context: typer.Context,
    count: Annotated[int, typer.Option("--count", "-c", help="How many.", min=1, max=1000)] = 20,
    offset: Annotated[int, typer.Option("--offset", "-f", help="How many to skip.", min=0)] = 0,
    name: Annotated[str, typer.Option("--name", "-n", help="Only IDs that contain this.")] = "",
    order: Annotated[
        ListOrder, typer.Option("--order", "-o", help="asc: newest last.")
    ] = ListOrder.ASC,
    status: Annotated[
        Optional[list[str]],  # noqa: UP045 -- read at run time
        typer.Option("--status", "-s", help="Only with this status; may be repeated."),
    ] = None,
    submitted_after: Annotated[str, typer.Option(help="YYYY-MM-DD, in local time.")] = "",
    submitted_before: Annotated[str, typer.Option(help="YYYY-MM-DD, in local time.")] = "",
    priority: Annotated[
        Optional[list[WorkflowPriority]],  # noqa: UP045 -- read at run time
        typer.Option(help="Only of this priority; may be repeated."),
    ] = None,
    user: Annotated[
        Optional[list[str]],  # noqa: UP045 -- read at run time
        typer.Option("--user", "-u", help="Only of this user; may be repeated."),
    ] = None,
    all_users: Annotated[
        bool, typer.Option("--all-users", "-a", help="Not only your own.")
    ] = False,
    pool: Annotated[
        Optional[list[str]],  # noqa: UP045 -- read at run time
        typer.Option("--pool", "-p", help="Only in this project; may be repeated."),
    ] = None,
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """List workflows, the newest last."""
    answer = current_invocation(context).client.get(
        PATH,
        limit=count,
        offset=offset,
        name=name,
        order=order.value.upper(),
        statuses=list(status or ()),
        submitted_after=_start_of_day(submitted_after),
        submitted_before=_start_of_day(submitted_before),
        priority=[it.value for it in priority or ()],
        users=list(user or ()),
        all_users="true" if all_users else "false",
        pools=list(pool or ()),
    )
    if format_type is TextOrJson.JSON:
        print(json.dumps({"workflows": answer["workflows"]}, indent=2))
        return
    if not answer["workflows"]:
        print("There are no workflows to view.")
        return
    heads = ["User", "Workflow ID", "Submit Time", "Status", "Priority", "Overview"]
    rows = [
        [
            row["user"],
            row["name"],
            local_time(row["submit_time"]),
            row["status"],
            row["priority"],
            row["overview"],
        ]
        for row in answer["workflows"]
    ]
    print_table(heads, rows)


def logs(
    context: typer.Context,
    workflow_id: WorkflowId,
    task: Annotated[str, typer.Option("--task", "-t", help="Only lines of this task.")] = "",
    retry: Annotated[
        Optional[int],  # noqa: UP045 -- read at run time
        typer.Option("--retry", "-r", help="Only of this start of the task; needs -t.", min=0),
    ] = None,
    lines: Annotated[
        int, typer.Option("--last-n-lines", "-n", help="How many of the last lines.", min=1)
    ] = 1000,
    text: Annotated[
        str, typer.Option("--query", "-q", help="Only lines with this text, in any case.")
    ] = "",
) -> None:
    """Print the output of all tasks, merged by time."""
    if retry is not None and not task:
        raise wrong_use("--retry needs --task.")
    _print_text(
        context,
        workflow_id,
        "logs",
        f"Workflow {workflow_id} has logs:",
        task_name=task or None,
        retry_id=retry,
        last_n_lines=lines,
        query=text or None,
    )


def events(context: typer.Context, workflow_id: WorkflowId) -> None:
    """Print the events of a workflow: phases of its workloads, and why."""
    _print_text(context, workflow_id, "events")


def spec(
    context: typer.Context,
    workflow_id: WorkflowId,
    template: Annotated[
        bool, typer.Option("--template", help="The file as it was submitted.")
    ] = False,
) -> None:
    """Print the file of a workflow, without variables."""
    _print_text(context, workflow_id, "spec", use_template="true" if template else None)


def cancel(
    context: typer.Context,
    workflow_ids: Annotated[list[str], typer.Argument(help="IDs of workflows.")],
    message: Annotated[str, typer.Option("--message", "-m", help="Why.")] = "",
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Accepted for OSMO; changes nothing here.")
    ] = False,
    format_type: FormatType = TextOrJson.TEXT,
) -> None:
    """Stop the groups of workflows that run, and start no others."""
    client = current_invocation(context).client
    failed = False
    for workflow_id in workflow_ids:
        try:
            answer = client.post(f"{PATH}/{workflow_id}/cancel", message=message)
        except CliError as error:
            failed = True
            problem = f"Workflow cancelation failed for workflow {workflow_id}: {error}"
            print(problem, file=sys.stderr)
            continue
        if format_type is TextOrJson.JSON:
            print(json.dumps(answer, indent=4))
        else:
            print(f"Cancel job for workflow {workflow_id} is submitted!")
    if failed:
        raise typer.Exit(ExitCode.REFUSED)


def restart(
    context: typer.Context,
    workflow_id: WorkflowId,
    settings: Settings = None,
    text_settings: TextSettings = None,
    variables: Variables = None,
    task_size: TaskSize = "",
    pool: Annotated[
        str, typer.Option("--pool", "-p", help="Accepted for OSMO; the project stays.")
    ] = "",
) -> None:
    """Run the groups of a failed workflow that did not complete, as a new workflow, with the values
    of its submission unless others are given."""
    client = current_invocation(context).client
    body = {
        "variables": {
            **{name: _number_or_text(value) for name, value in _pairs(settings, "--set")},
            **dict(_pairs(text_settings, "--set-string")),
        },
        "environmentVariables": dict(_pairs(variables, "--set-env")),
        "taskSize": task_size,
    }
    answer = client.post(f"/workflows/{workflow_id}/restart", body)
    print(f"Workflow {workflow_id} restarted.")
    row = client.get(f"{PATH}/{answer['label']}", skip_groups="true")
    _print_submitted(row)


def _file_body(
    file: Path, settings: Sequence[str] | None, text_settings: Sequence[str] | None
) -> Item:
    return {
        "file": _read_text(file),
        "set_variables": list(settings or ()),
        "set_string_variables": list(text_settings or ()),
    }


def _pairs(texts: Sequence[str] | None, option: str) -> Iterator[tuple[str, str]]:
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise wrong_use(f"{option} {text}: write NAME=VALUE.")
        yield name, value


def _number_or_text(text: str) -> int | float | str:
    """Return the number that a text looks like, as at a submission; else the text."""
    for kind in (int, float):
        try:
            number = kind(text)
        except ValueError:
            continue
        if math.isfinite(number):
            return number
    return text


def _read_text(file: Path) -> str:
    try:
        return sys.stdin.read() if str(file) == STDIN else file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise wrong_use(f"{file} cannot be read: {reason_of(error)}.") from error


def _local_files(file: Path, paths: Iterable[str]) -> dict[str, str]:
    """Read the local files that a workflow file names, from its folder."""
    return {path: _read_text(file.parent / path) for path in paths}


def _render(invocation: Invocation, pool: str, body: Item) -> Item:
    """Have the server render the file, which also tells the local files that it names."""
    return _post(invocation, pool, body, dry_run="true")


def _post(invocation: Invocation, pool: str, body: Item, **query: Any) -> Item:
    project = pool or invocation.project()["name"]
    answer: Item = invocation.client.post(f"/osmo/pool/{project}/workflow", body, **query)
    return answer


def _print_submitted(answer: Item) -> None:
    print(f"Workflow ID        - {answer['name']}")
    print(f"Workflow Overview  - {answer['overview']}")


def _print_text(
    context: typer.Context, workflow_id: str, what: str, head: str = "", **query: Any
) -> None:
    client = current_invocation(context).client
    with client.stream(f"{PATH}/{workflow_id}/{what}", **query) as lines:
        if head:
            print(head)
        for line in lines:
            print(line)


def _start_of_day(day: str) -> str | None:
    if not day:
        return None
    try:
        return datetime.strptime(day, "%Y-%m-%d").astimezone().isoformat()
    except ValueError as error:
        raise wrong_use(f"{day} is not a date; write one like 2026-01-31.") from error
