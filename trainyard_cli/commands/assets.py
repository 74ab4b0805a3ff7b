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
    matching,
    only,
    scope_of,
)
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


def _spec(key: str) -> Cell:
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
OWN: dict[AssetNoun, tuple[TextColumn, ...]] = {
    ENVIRONMENT: (TextColumn("IMAGE", _spec("image")),),
    COMPUTE: (
        TextColumn("GPUS", _gpus),
        TextColumn("CPU", _spec("cpuCoreRequest")),
        TextColumn("MEMORY", _spec("cpuMemoryRequest")),
    ),
    DATA_SOURCE: (KIND,),
    CREDENTIAL: (KIND,),
    TEMPLATES: (
        TextColumn("KIND", _spec("kind")),
        TextColumn("FRAMEWORK", _spec("framework")),
        TextColumn("WORKERS", _workers),
    ),
}
BEHIND = (
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
        group.command("list", help=f"List {noun.nouns} that you can see.")(_lister(noun))
        text = f"Show one of the {noun.nouns} in full, and what uses it."
        group.command("describe", help=text)(_describer(noun))
        app.add_typer(group, name=noun.word)


def _lister(noun: AssetNoun) -> Callable[..., None]:
    def list_assets(
        context: typer.Context,
        project: ProjectName = "",
        output: Output = None,
        no_headers: NoHeaders = False,
    ) -> None:
        invocation = current_invocation(context)
        place = invocation.project(project)["id"] if project else None
        pages = invocation.client.pages(f"/asset/{noun.path}", "entries", complyToProject=place)
        every = [it for it in pages if not place or it["compliance"]["compliance"]]
        print_list(
            every,
            (NAME, *OWN[noun], *BEHIND),
            output,
            headers=not no_headers,
            name=NAME.text,
            empty=f"No {noun.nouns} yet.",
        )

    return list_assets


def _describer(noun: AssetNoun) -> Callable[..., None]:
    name_help = f"Name or id of one of the {noun.nouns}."

    def describe(
        context: typer.Context,
        name: Annotated[str, typer.Argument(help=name_help)],
        output: Output = None,
    ) -> None:
        entries = matching(
            current_invocation(context), noun, name, usageInfo="true", statusInfo="true"
        )
        asset = only(noun, name, entries)
        if output is Format.NAME:
            print(NAME.text(asset))
        elif not print_document(asset, output):
            _show(asset)

    return describe


def _show(asset: Item) -> None:
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
    given = {key: value for key, value in asset["spec"].items() if value not in (None, [], {}, "")}
    if given:
        text = yaml.safe_dump(given, sort_keys=False, allow_unicode=True)
        print("\nSpec:\n" + "".join(f"  {line}\n" for line in text.splitlines()), end="")


def _users(used_by: dict[str, Any]) -> Iterator[str]:
    """Yield the names of all that use an asset, each with what it is."""
    for group, users in used_by.items():
        if isinstance(users, list):
            yield from (f"{it['name']} ({group})" for it in users)
