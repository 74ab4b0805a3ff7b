"""Assets and templates: their paths in REST, and how to find one by its name."""

from dataclasses import dataclass
from typing import Any

from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.flags.values import BadValue
from trainyard_cli.invocation import Invocation
from trainyard_cli.lookup import is_id
from trainyard_cli.show import Item

Body = dict[str, Any]
SOURCES = "dataSources"
TEMPLATE = "template"
SOURCE_WORDS = {"type", "name", "path", "version"}


@dataclass(frozen=True)
class AssetNoun:
    """A kind of asset. ``word`` is its command and its flag, ``path`` its path in REST below
    ``/asset``; ``noun`` and ``nouns`` are for messages."""

    word: str
    path: str
    noun: str
    nouns: str


ENVIRONMENT = AssetNoun("environment", "environment", "environment", "environments")
COMPUTE = AssetNoun("compute", "compute", "compute resource", "compute resources")
DATA_SOURCE = AssetNoun("datasource", "datasource", "data source", "data sources")
CREDENTIAL = AssetNoun("credential", "credentials", "credential", "credentials")
TEMPLATES = AssetNoun("template", "workload-template", "template", "templates")
NOUNS = (ENVIRONMENT, COMPUTE, DATA_SOURCE, CREDENTIAL, TEMPLATES)
#: The kinds of which a workload has one, by their keys in ``assets`` of its request.
SINGLE = {"environment": ENVIRONMENT, "compute": COMPUTE}


def find_assets(invocation: Invocation, noun: AssetNoun, name: str, **query: Any) -> list[Item]:
    """Return the assets with this name or id that you can see, in one request. ``query`` is passed
    on."""
    key = {"filterBy": f"id=={name}"} if is_id(name) else {"name": name}
    entries: list[Item] = invocation.client.get(f"/asset/{noun.path}", **key, **query)["entries"]
    return entries


def scope_of(asset: Item) -> str:
    """Return the scope that an asset belongs to. Run:ai's REST calls an account a tenant."""
    scope = str(asset["meta"]["scope"])
    return "account" if scope == "tenant" else scope


def single_asset(noun: AssetNoun, name: str, entries: list[Item], where: str = "") -> Item:
    """Return the only entry of ``entries``, which were found by ``name``.

    Raises ``CliError`` if there is none, or more than one. ``where`` is a part of the message,
    after the name.
    """
    if not entries:
        message = f"There is no {noun.noun} {name}{where} that you have access to."
        todo = f"List them: trainyard {noun.word} list"
        raise CliError(message, todo, code=ExitCode.NOT_FOUND)
    if len(entries) > 1:
        ids = ", ".join(f"{it['meta']['id']} ({scope_of(it)})" for it in entries)
        raise wrong_use(
            f"{len(entries)} {noun.nouns} are called {name}.", f"Use one of their ids: {ids}"
        )
    return entries[0]


def replace_names(invocation: Invocation, body: Body, flag_names: Body) -> Body:
    """Replace the names of assets in a request by their ids.

    ``flag_names`` has the names that flags gave, by their keys in ``assets``, and that of the
    template. A file has names as the wizard writes them. Flags win. Raises ``CliError`` if an
    asset does not exist or cannot be used.
    """
    if "masterAssets" in body:
        todo = "Take the request body that As YAML shows below, which has their values."
        raise wrong_use("The file names assets of the master, which requests cannot.", todo)
    body = dict(body) | {"spec": dict(body["spec"])}
    assets = dict(body.pop("assets", None) or {})
    template = flag_names.get(TEMPLATE) or body.pop(TEMPLATE, None)
    if SOURCES in body["spec"]:
        assets[SOURCES] = body["spec"].pop(SOURCES)
    assets |= {key: value for key, value in flag_names.items() if value and key != TEMPLATE}
    project = str(body["projectId"])
    for key, noun in SINGLE.items():
        if assets.get(key):
            assets[key] = find_usable_id(invocation, noun, str(assets[key]), project)
    if assets.get(SOURCES):
        assets[SOURCES] = [_replace_source_name(invocation, it, project) for it in assets[SOURCES]]
    if assets:
        body["assets"] = assets
    if template:
        body["templateId"] = find_usable_id(invocation, TEMPLATES, str(template), project)
    return body


def find_usable_id(invocation: Invocation, noun: AssetNoun, name: str, project: str) -> str:
    """Return the id of an asset that workloads of the project can use. An id is returned as it is.
    A submission may override a value that a policy does not allow.

    Raises ``CliError`` with the reason if they cannot use it.
    """
    if is_id(name):
        return name
    entries = find_assets(invocation, noun, name, complyToProject=project)
    usable = [it for it in entries if all(why.get("rule") for why in it["compliance"]["reason"])]
    if entries and not usable:
        reason = entries[0]["compliance"]["reason"][0]["details"]
        raise CliError(f"The {noun.noun} {name} cannot be used here: {reason}.")
    return str(single_asset(noun, name, usable)["meta"]["id"])


def _replace_source_name(invocation: Invocation, item: Body, project: str) -> Body:
    """Return a data source as requests name it: by its id, by a path if it is not mounted at its
    own, and by the version of a dataset."""
    name = str(item.get("name") or item.get("id") or "")
    given = {key: item[key] for key in ("path", "version") if item.get(key)}
    return {"id": find_usable_id(invocation, DATA_SOURCE, name, project), **given}


def parse_data_source(text: str) -> Body:
    """Parse the value of ``--datasource``: ``type=nfs,name=images,path=/data``, or a name alone.
    A dataset may have a ``version``.

    The type is ignored, because a data source has one. Raises ``BadValue`` for anything else.
    """
    words = (
        dict(it.partition("=")[::2] for it in text.split(",")) if "=" in text else {"name": text}
    )
    if not words.get("name") or not words.keys() <= SOURCE_WORDS:
        raise BadValue(
            f"--datasource: {text!r} is not name=NAME, with path=/data if it differs, and "
            "version=2 of a dataset"
        )
    return {key: value for key, value in words.items() if key != "type"}
