"""Commands that list and show environments, compute resources, data sources, credentials and
templates."""

from collections.abc import Callable, Iterator, Sequence
from typing import Annotated, Any

import typer

from trainyard_cli.assets import (
    COMPUTE,
    CREDENTIAL,
    DATA_SOURCE,
    ENVIRONMENT,
    NOUNS,
    TEMPLATES,
    AssetNoun,
    find_assets,
    scope_of,
    single_asset,
)
from trainyard_cli.commands.credentials import delete_credential, set_credential
from trainyard_cli.invocation import NoHeaders, Output, ProjectName, current_invocation
from trainyard_cli.show import (
    Format,
    Item,
    TextColumn,
    format_age,
    format_number,
    print_document,
    print_facts,
    print_list,
)

Cell = Callable[[Item], str]


def _spec_cell(key: str) -> Cell:
    return lambda it: str(it["spec"].get(key) or "–")


def _gpus(compute: Item) -> str:
    """Return how many GPUs a compute resource requests, or which part of one."""
    spec = compute["spec"]
    portion = spec.get("gpuPortionRequest") if spec.get("gpuRequestType") == "portion" else None
    if spec.get("gpuRequestType") == "memory":
        return f"{spec.get('gpuMemoryRequest')} of 1"
    return format_number(portion or spec.get("gpuDevicesRequest") or 0)


def _workers(template: Item) -> str:
    return str(template["spec"].get("values", {}).get("numWorkers") or "–")


KIND = TextColumn("TYPE", lambda it: it["meta"]["kind"])
#: Kind → the columns that people choose by.
OWN_COLUMNS: dict[AssetNoun, tuple[TextColumn, ...]] = {
    ENVIRONMENT: (TextColumn("IMAGE", _spec_cell("image")),),
    COMPUTE: (
        TextColumn("GPUS", _gpus),
        TextColumn("CPU", _spec_cell("cpuCoreRequest")),
        TextColumn("MEMORY", _spec_cell("cpuMemoryRequest")),
    ),
    DATA_SOURCE: (KIND,),
    CREDENTIAL: (KIND,),
    TEMPLATES: (
        TextColumn("KIND", _spec_cell("kind")),
        TextColumn("FRAMEWORK", _spec_cell("framework")),
        TextColumn("WORKERS", _workers),
    ),
}
LAST_COLUMNS = (
    TextColumn("SCOPE", scope_of),
    TextColumn("CREATED BY", lambda it: it["meta"]["createdBy"] or "–"),
    TextColumn("AGE", lambda it: format_age(it["meta"]["createdAt"])),
    TextColumn("DESCRIPTION", lambda it: it["meta"]["description"] or "–", wide=True),
    TextColumn("ID", lambda it: it["meta"]["id"], wide=True),
)
NAME = TextColumn("NAME", lambda it: it["meta"]["name"])


def add(app: typer.Typer, head: Sequence[str]) -> None:
    """Add a group with the same commands for each kind of asset."""
    for noun in NOUNS:
        group = typer.Typer(help=f"{noun.nouns.capitalize()}, by name.", no_args_is_help=True)
        group.command("list", help=f"List {noun.nouns} that you can see.")(_build_list(noun))
        text = f"Show one of the {noun.nouns} in full, and what uses it."
        group.command("describe", help=text)(_build_describe(noun))
        if noun is CREDENTIAL:
            group.command("set")(set_credential)
            group.command("delete")(delete_credential)
        app.add_typer(group, name=noun.word)


def _build_list(noun: AssetNoun) -> Callable[..., None]:
    def list_assets(
        context: typer.Context,
        project: ProjectName = "",
        output: Output = None,
        no_headers: NoHeaders = False,
    ) -> None:
        invocation = current_invocation(context)
        project_id = invocation.project(project)["id"] if project else None
        entries = invocation.client.pages(
            f"/asset/{noun.path}", "entries", complyToProject=project_id
        )
        print_list(
            [it for it in entries if not project_id or it["compliance"]["compliance"]],
            (NAME, *OWN_COLUMNS[noun], *LAST_COLUMNS),
            output,
            headers=not no_headers,
            name=NAME.text,
            empty=f"No {noun.nouns} yet.",
        )

    return list_assets


def _build_describe(noun: AssetNoun) -> Callable[..., None]:
    name_help = f"Name or id of one of the {noun.nouns}."

    def describe(
        context: typer.Context,
        name: Annotated[str, typer.Argument(help=name_help)],
        output: Output = None,
    ) -> None:
        entries = find_assets(
            current_invocation(context), noun, name, usageInfo="true", statusInfo="true"
        )
        asset = single_asset(noun, name, entries)
        if output is Format.NAME:
            print(NAME.text(asset))
        elif not print_document(asset, output):
            _print_asset(asset)

    return describe


def _print_asset(asset: Item) -> None:
    import yaml

    meta = asset["meta"]
    status = asset.get("status") or {}
    print_facts(
        [
            ("Name", meta["name"]),
            ("Description", meta["description"]),
            ("Type", meta["kind"]),
            ("Scope", scope_of(asset)),
            ("Status", " ".join(filter(None, (status.get("status"), status.get("message"))))),
            ("Created", f"{format_age(meta['createdAt'])} ago by {meta['createdBy'] or 'nobody'}"),
            ("Used by", ", ".join(_users(asset.get("usedBy") or {}))),
            ("ID", meta["id"]),
        ]
    )
    values = {key: value for key, value in asset["spec"].items() if value not in (None, [], {}, "")}
    if values:
        text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
        print("\nSpec:\n" + "".join(f"  {line}\n" for line in text.splitlines()), end="")


def _users(used_by: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the users of an asset, each with its kind."""
    for group, users in used_by.items():
        if isinstance(users, list):
            yield from (f"{it['name']} ({group})" for it in users)
