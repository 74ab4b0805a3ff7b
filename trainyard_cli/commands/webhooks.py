"""Commands for webhooks: where messages about workloads go, and whether each arrived."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.invocation import Invocation, NoHeaders, Output, ProjectName, current_invocation
from trainyard_cli.notes import print_note
from trainyard_cli.show import (
    Item,
    TextColumn,
    format_age,
    print_columns,
    print_document,
    print_facts,
    print_list,
)

EVERY_EVENT = "*"
PATH = "/webhooks"
Name = Annotated[str, typer.Argument(help="Name or id of a webhook.")]
Message = Annotated[str, typer.Argument(help="The id of a message, as deliveries lists it.")]
WEBHOOKS = (
    TextColumn("NAME", lambda it: it["name"]),
    TextColumn("ADDRESS", lambda it: it["url"]),
    TextColumn("EVENTS", lambda it: ",".join(it["events"])),
    TextColumn("STATUS", lambda it: _state(it)),
    TextColumn("SCOPE", lambda it: it["scope"], wide=True),
    TextColumn("CREATED BY", lambda it: it["createdBy"] or "–", wide=True),
    TextColumn("ID", lambda it: it["id"], wide=True),
)
DELIVERIES = (
    TextColumn("MESSAGE", lambda it: it["id"]),
    TextColumn("EVENT", lambda it: it["type"]),
    TextColumn("WORKLOAD", lambda it: it["subject"] or "–"),
    TextColumn("STATE", lambda it: it["state"]),
    TextColumn("ATTEMPTS", lambda it: str(it["attempts"])),
    TextColumn("ANSWER", lambda it: _answer(it)),
    TextColumn("AGE", lambda it: format_age(it["createdAt"])),
    TextColumn("NEXT ATTEMPT", lambda it: it["nextTryAt"] or "–", wide=True),
)


def add(app: typer.Typer, _: Sequence[str]) -> None:
    """Add the commands."""
    group = typer.Typer(help="Addresses that get messages about workloads.", no_args_is_help=True)
    group.command("list")(list_webhooks)
    group.command("create")(create)
    group.command("delete")(delete)
    group.command("test")(test)
    group.command("deliveries")(list_deliveries)
    group.command("delivery")(describe_delivery)
    group.command("resend")(resend)
    app.add_typer(group, name="webhook")


def list_webhooks(
    context: typer.Context, output: Output = None, no_headers: NoHeaders = False
) -> None:
    """Webhooks of your projects."""
    webhooks = list(current_invocation(context).client.pages(PATH, "webhooks"))
    print_list(webhooks, WEBHOOKS, output, headers=not no_headers, empty="No webhooks yet.")


def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    url: Annotated[str, typer.Option("--url", help="Where messages are posted.")],
    event: Annotated[
        list[str] | None,
        typer.Option(help="An event, such as workload.failed; all unless given. Repeat it."),
    ] = None,
    pending_minutes: Annotated[
        int | None,
        typer.Option(help="After how many minutes a workload is pending for long; 30 by default."),
    ] = None,
    project: ProjectName = "",
    output: Output = None,
) -> None:
    """Send messages about a project's workloads to an address. The secret is printed only once."""
    invocation = current_invocation(context)
    body: dict[str, Any] = {
        "name": name,
        "url": url,
        "events": event or [EVERY_EVENT],
        "scope": "project",
        "projectId": invocation.project(project)["id"],
    }
    if pending_minutes is not None:
        body["pendingMinutes"] = pending_minutes
    webhook = invocation.client.post(PATH, body)
    if not print_document(webhook, output):
        print_note("Created. The secret that signs its messages is not shown again:")
        print(webhook["secret"])


def delete(context: typer.Context, name: Name) -> None:
    """Remove a webhook, with its messages."""
    webhook = _find(current_invocation(context), name)
    current_invocation(context).client.delete(f"{PATH}/{webhook['id']}")
    print_note(f"Deleted {webhook['name']}.")


def test(context: typer.Context, name: Name) -> None:
    """Send the message webhook.test, once."""
    webhook = _find(current_invocation(context), name)
    sent = current_invocation(context).client.post(f"{PATH}/{webhook['id']}/test")
    print_note(f"To be sent as message {sent['id']}.")
    print_note(f"See what became of it: trainyard webhook delivery {webhook['name']} {sent['id']}")


def list_deliveries(
    context: typer.Context,
    name: Name,
    state: Annotated[str, typer.Option(help="Only pending, delivered or failed.")] = "",
    output: Output = None,
    no_headers: NoHeaders = False,
) -> None:
    """Messages of a webhook, the newest first, and what became of each."""
    webhook = _find(current_invocation(context), name)
    wanted = {"filterBy": f"state=={state}"} if state else {}
    pages = current_invocation(context).client.pages(
        f"{PATH}/{webhook['id']}/deliveries", "deliveries", sortOrder="desc", **wanted
    )
    print_list(
        list(pages),
        DELIVERIES,
        output,
        headers=not no_headers,
        name=lambda it: str(it["id"]),
        empty="No messages yet.",
    )


def describe_delivery(
    context: typer.Context, name: Name, message: Message, output: Output = None
) -> None:
    """One message, and each attempt to send it."""
    webhook = _find(current_invocation(context), name)
    one = current_invocation(context).client.get(f"{PATH}/{webhook['id']}/deliveries/{message}")
    if not print_document(one, output):
        _print_delivery(one)


def resend(context: typer.Context, name: Name, message: Message) -> None:
    """Send the same message again."""
    webhook = _find(current_invocation(context), name)
    current_invocation(context).client.post(f"{PATH}/{webhook['id']}/deliveries/{message}/resend")
    print_note("It is sent again.")


def _find(invocation: Invocation, name: str) -> Item:
    """Return the webhook with this name or id. Raises ``CliError`` if there is none, or if several
    have the name."""
    rows = list(invocation.client.pages(PATH, "webhooks"))
    found = [it for it in rows if it["id"] == name] or [it for it in rows if it["name"] == name]
    if not found:
        message = f"There is no webhook {name} that you have access to."
        raise CliError(message, "List them: trainyard webhook list", code=ExitCode.NOT_FOUND)
    if len(found) > 1:
        ids = ", ".join(it["id"] for it in found)
        raise wrong_use(f"{len(found)} webhooks are called {name}.", f"Use one of their ids: {ids}")
    return dict(found[0])


def _state(webhook: Item) -> str:
    status: dict[str, Any] = webhook["status"]
    if not webhook["enabled"]:
        return "Off"
    return f"Failing ({status['failures']})" if status["failures"] else "On"


def _answer(delivery: Item) -> str:
    return str(delivery["statusCode"] or delivery["fault"] or "–")


def _print_delivery(delivery: Item) -> None:
    print_facts(
        [
            ("Message", delivery["id"]),
            ("Event", delivery["type"]),
            ("Workload", delivery["subject"]),
            ("State", delivery["state"]),
            ("Next attempt", delivery["nextTryAt"] or ""),
            ("Body", delivery["body"]),
        ]
    )
    if delivery["log"]:
        print("\nAttempts:")
        rows = [
            [it["at"], str(it["statusCode"] or "–"), f"{it['milliseconds']} ms", it["fault"]]
            for it in delivery["log"]
        ]
        print_columns([["SENT", "ANSWER", "TOOK", "ERROR"], *rows], indent="  ")
