"""Sets and deletes your own credentials, with the options of OSMO's command line."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from trainyard_cli.assets import CREDENTIAL, find_assets
from trainyard_cli.errors import CliError, ExitCode, reason_of, wrong_use
from trainyard_cli.invocation import Invocation, current_invocation
from trainyard_cli.notes import print_note
from trainyard_cli.show import Item

CredentialName = Annotated[str, typer.Argument(help="The name of the credential.")]


class CredentialType(str, Enum):
    """Values of ``--type``, in OSMO's words."""

    GENERIC = "GENERIC"
    REGISTRY = "REGISTRY"
    DATA = "DATA"


@dataclass(frozen=True)
class PayloadForm:
    """How a type is stored: its path in REST and its kind there, the wire fields by the keys of the
    payload, and the keys that are left out."""

    path: str
    kind: str
    fields: Mapping[str, str]
    without_effect: frozenset[str] = frozenset()


REGISTRY = PayloadForm(
    "docker-registry",
    "dockerRegistry",
    {"registry": "url", "username": "user", "auth": "password"},
)
DATA = PayloadForm(
    "access-key",
    "accessKey",
    {"access_key_id": "accessKeyId", "access_key": "secretAccessKey"},
    frozenset({"endpoint", "region", "override_url", "addressing_style"}),
)
GENERIC_PATH = "generic-secret"
#: Paths in REST by the kind that an answer names.
PATHS = {
    "genericSecret": GENERIC_PATH,
    "dockerRegistry": REGISTRY.path,
    "accessKey": DATA.path,
    "ngcApiKey": "ngc-api-key",
    "password": "password",
}


def set_credential(
    context: typer.Context,
    name: CredentialName,
    credential_type: Annotated[
        CredentialType, typer.Option("--type", help="GENERIC, REGISTRY or DATA.")
    ] = CredentialType.GENERIC,
    payload: Annotated[
        Optional[list[str]],  # noqa: UP045 -- read at run time
        typer.Option(help="KEY=VALUE; may be repeated."),
    ] = None,
    payload_file: Annotated[
        Optional[list[str]],  # noqa: UP045 -- read at run time
        typer.Option(help="KEY=PATH of a file with the value; may be repeated."),
    ] = None,
) -> None:
    """Create a credential of your own, or replace its values.

    REGISTRY has the keys registry, username and auth, and DATA access_key_id and access_key."""
    values = {**dict(_pairs(payload, "--payload")), **dict(_file_values(payload_file))}
    if not values:
        raise wrong_use("Give the values, such as --payload-file token=token.txt.")
    path, spec = _build_spec(credential_type, values)
    invocation = current_invocation(context)
    earlier = _own_credentials(invocation, name)
    if earlier and PATHS[earlier[0]["meta"]["kind"]] == path:
        _replace(invocation, earlier[0], path, spec)
    elif earlier:
        message = f"{name} is another type of credential."
        raise CliError(message, f"Delete it first: trainyard credential delete {name}")
    else:
        meta = {"name": name, "scope": "tenant", "private": True}
        invocation.client.post(f"/asset/{CREDENTIAL.path}/{path}", {"meta": meta, "spec": spec})
    print(f"Set {credential_type.value} credential {name}.")


def delete_credential(context: typer.Context, name: CredentialName) -> None:
    """Delete a credential of your own."""
    invocation = current_invocation(context)
    found = _own_credentials(invocation, name)
    if not found:
        message = f"You have no credential {name} of your own."
        raise CliError(message, "List them: trainyard credential list", code=ExitCode.NOT_FOUND)
    invocation.client.delete(_path_of(found[0]))
    print(f"Deleted credential {name}.")


def _own_credentials(invocation: Invocation, name: str) -> list[Item]:
    return [it for it in find_assets(invocation, CREDENTIAL, name) if it["meta"]["private"]]


def _path_of(credential: Item) -> str:
    meta = credential["meta"]
    return f"/asset/{CREDENTIAL.path}/{PATHS[meta['kind']]}/{meta['id']}"


def _replace(invocation: Invocation, earlier: Item, path: str, spec: Item) -> None:
    body = {"meta": {"name": earlier["meta"]["name"]}, "spec": spec}
    invocation.client.send("PUT", _path_of(earlier), body)


def _build_spec(credential_type: CredentialType, values: Mapping[str, str]) -> tuple[str, Item]:
    """Return the path in REST and the ``spec`` of a credential. ``CliError`` for wrong keys."""
    if credential_type is CredentialType.GENERIC:
        pairs = [{"key": key, "value": value} for key, value in values.items()]
        return GENERIC_PATH, {"keyValuePairs": pairs}
    form = REGISTRY if credential_type is CredentialType.REGISTRY else DATA
    wrong = values.keys() - form.fields.keys() - form.without_effect
    missing = form.fields.keys() - values.keys()
    if wrong or missing:
        keys = ", ".join(form.fields)
        raise wrong_use(f"A credential of type {credential_type.value} has the keys {keys}.")
    for key in sorted(values.keys() & form.without_effect):
        print_note(f"{key} is left out: the URL and the data source say where data are.")
    spec: dict[str, Any] = {wire: values[key] for key, wire in form.fields.items()}
    return form.path, spec


def _pairs(texts: Sequence[str] | None, option: str) -> Iterator[tuple[str, str]]:
    """Yield the names and values of ``NAME=VALUE``. The message for another text hides it, as it
    may be a secret."""
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not (name and equals):
            raise wrong_use(f"{option}: write KEY=VALUE.")
        yield name, value


def _file_values(texts: Sequence[str] | None) -> Iterator[tuple[str, str]]:
    for key, path in _pairs(texts, "--payload-file"):
        try:
            yield key, Path(path).expanduser().read_text(encoding="utf-8").rstrip("\n")
        except (OSError, UnicodeDecodeError) as error:
            raise wrong_use(f"{path} cannot be read: {reason_of(error)}.") from error
