"""Assets and templates: where they are in REST, and which one a name means."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from trainyard_cli.errors import CliError, ExitCode, wrong_use
from trainyard_cli.flags.values import BadValue
from trainyard_cli.invocation import Invocation
from trainyard_cli.show import Item

Body = dict[str, Any]
SOURCES = "dataSources"
TEMPLATE = "template"
SOURCE_WORDS = {"type", "name", "path"}


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


def matching(invocation: Invocation, noun: AssetNoun, name: str, **query: Any) -> list[Item]:
    """Return the assets with this name or id that you can see, in one request. ``query`` is passed
    on."""
    by = {"filterBy": f"id=={name}"} if is_id(name) else {"name": name}
    entries: list[Item] = invocation.client.get(f"/asset/{noun.path}", **by, **query)["entries"]
    return entries


def scope_of(asset: Item) -> str:
    """Return the kind of place that an asset belongs to. What Run:ai's REST calls a tenant is an
    account here."""
    scope = str(asset["meta"]["scope"])
    return "account" if scope == "tenant" else scope


def only(noun: AssetNoun, name: str, entries: list[Item], where: str = "") -> Item:
    """Return the only one of ``entries``, which were found by ``name``.

    Raises ``CliError`` if there is none, or more than one. ``where`` is a part of the message,
    after the name.
    """
    if not entries:
        message = f"There is no {noun.noun} {name}{where} that you have access to."
        todo = f"List what there is: trainyard {noun.word} list"
        raise CliError(message, todo, code=ExitCode.NOT_FOUND)
    if len(entries) > 1:
        ids = ", ".join(f"{it['meta']['id']} ({scope_of(it)})" for it in entries)
        raise wrong_use(
            f"{len(entries)} {noun.nouns} are called {name}.", f"Use one of their ids: {ids}"
        )
    return entries[0]


def with_ids(invocation: Invocation, body: Body, given: Body) -> Body:
    """Return the request with the ids of assets in the place of their names.

    Names are in ``given``, which has those of the flags by their keys in ``assets`` and the one of
    the template, and in files as the wizard writes them. Flags win. Raises ``CliError`` if an asset
    does not exist or cannot be used.
    """
    if "masterAssets" in body:
        todo = "Take the request body that As YAML shows below, which has their values."
        raise wrong_use("The file names assets of the master, which requests cannot.", todo)
    body = dict(body) | {"spec": dict(body["spec"])}
    named = dict(body.pop("assets", None) or {})
    template = given.get(TEMPLATE) or body.pop(TEMPLATE, None)
    if SOURCES in body["spec"]:
        named[SOURCES] = body["spec"].pop(SOURCES)
    named |= {key: value for key, value in given.items() if value and key != TEMPLATE}
    project = str(body["projectId"])
    for key, noun in SINGLE.items():
        if named.get(key):
            named[key] = usable(invocation, noun, str(named[key]), project)
    if named.get(SOURCES):
        named[SOURCES] = [_mounted(invocation, it, project) for it in named[SOURCES]]
    if named:
        body["assets"] = named
    if template:
        body["templateId"] = usable(invocation, TEMPLATES, str(template), project)
    return body


def usable(invocation: Invocation, noun: AssetNoun, name: str, project: str) -> str:
    """Return the id of an asset that workloads of the project can use. An id is returned as it is.

    Raises ``CliError`` with the reason if they cannot use it.
    """
    if is_id(name):
        return name
    entries = matching(invocation, noun, name, complyToProject=project)
    fit = [it for it in entries if it["compliance"]["compliance"]]
    if entries and not fit:
        reason = entries[0]["compliance"]["reason"][0]["details"]
        raise CliError(f"The {noun.noun} {name} cannot be used here: {reason}.")
    return str(only(noun, name, fit)["meta"]["id"])


def _mounted(invocation: Invocation, item: Body, project: str) -> Body:
    """Return a data source as requests name it: by its id, with a path if it is mounted
    elsewhere."""
    name = str(item.get("name") or item.get("id") or "")
    mounted = {"id": usable(invocation, DATA_SOURCE, name, project)}
    return mounted | ({"path": item["path"]} if item.get("path") else {})


def source_of(text: str) -> Body:
    """Parse the value of ``--datasource``: ``type=nfs,name=images,path=/data``, or a name alone.

    The type is ignored, because a data source has one. Raises ``BadValue`` for anything else.
    """
    words = (
        dict(it.partition("=")[::2] for it in text.split(",")) if "=" in text else {"name": text}
    )
    if not words.get("name") or not words.keys() <= SOURCE_WORDS:
        raise BadValue(f"--datasource: {text!r} is not name=NAME, with path=/data if it differs")
    return {key: value for key, value in words.items() if key != "type"}


def is_id(text: str) -> bool:
    """Whether a text is an id of REST rather than a name."""
    try:
        UUID(text)
    except ValueError:
        return False
    return True
