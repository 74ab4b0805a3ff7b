"""Credentials in REST: values are accepted and never returned. Each type has a path of its own."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from assets.credential.form import VALUES
from assets.wire import AssetInput, AssetWire, WireType
from spec.data.credential import KEYS, KNOWN_HOSTS, CredentialKind, with_last_line_break
from spec.formats.documents import Document
from spec.formats.stored import as_mapping
from spec.problems.errors import WORDS, Path, Problem

EXISTING = "existingSecretName"
PAIRS = "keyValuePairs"
NUMBER = "keyId"
#: Run:ai's words for the keys of each type, and for fields that are not secret.
RUNAI_KEYS: dict[CredentialKind, tuple[str, ...]] = {
    CredentialKind.ACCESS_KEY: ("accessKeyId", "secretAccessKey"),
    CredentialKind.PASSWORD: ("user", "password"),
    CredentialKind.REGISTRY: ("user", "password"),
    CredentialKind.NGC: ("ngc_api_key",),
}
RUNAI_FIELDS: dict[CredentialKind, Mapping[str, str]] = {
    CredentialKind.REGISTRY: {"url": "server", "email": "email"}
}
DESCRIPTIONS = {
    "accessKeyId": "The ID of the access key; write-only",
    "secretAccessKey": "The secret access key; write-only",
    "user": "The username; write-only",
    "password": "The password; write-only",
    "ngc_api_key": "The NGC API key; write-only",
    "url": "The URL of the registry",
    "email": "The email address of the user",
    "key": "The key",
    "value": "The value; write-only",
    PAIRS: "The values by key; a pair without a value keeps the stored one, a missing pair goes",
    EXISTING: "The name of a Secret in the namespace of each project, instead of values",
}
NOT_BOTH = "give either values or the name of an existing Secret, not both"


def _wire_type(kind: CredentialKind, path: str, one: str) -> WireType:
    keys = dict(zip(RUNAI_KEYS[kind], KEYS[kind], strict=True))
    plain = {**RUNAI_FIELDS.get(kind, {}), EXISTING: "existingSecret"}
    wire = {field: (word,) for word, field in plain.items()}
    wire |= {key: (word,) for word, key in keys.items()}

    def read(spec: Document, asset: Any) -> AssetInput:
        problems = _unknown_key_problems(spec, {*keys, *plain, NUMBER})
        values = {key: spec[word] for word, key in keys.items() if word in spec}
        problems += [
            Problem(wire[key], WORDS["string_type"])
            for key, value in values.items()
            if not isinstance(value, str)
        ]
        document = {field: spec[word] for word, field in plain.items() if word in spec}
        return _credential_input({"kind": kind.value, **document}, values, problems, request_path)

    def request_path(path: Path) -> Path:
        step = path[-1:] if path[:1] == (VALUES,) else path[:1]
        return wire.get("".join(map(str, step)), path)

    def write(asset: Any) -> Document:
        document = as_mapping(asset.spec_json)
        return {word: document.get(field) for word, field in plain.items()} | _with_number(asset)

    def schema() -> Document:
        values = {word: _string_schema(word) | {"writeOnly": True} for word in keys}
        return _object_schema(values | {word: _string_schema(word) for word in plain})

    return WireType(
        kind.value,
        read,
        write,
        path=path,
        document_kinds=(kind.value,),
        list_key=kind.value,
        noun_with_article=one,
        schema=schema,
    )


def _string_schema(word: str) -> Document:
    return {"type": "string", "description": DESCRIPTIONS[word]}


def _object_schema(properties: Document) -> Document:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _schema_of_pairs() -> Document:
    """Return the schema of pairs. A value that is left out of a change stays."""
    value = _string_schema("value") | {"writeOnly": True}
    pair = _object_schema({"key": _string_schema("key"), "value": value}) | {"required": ["key"]}
    pairs = {"type": "array", "items": pair, "description": DESCRIPTIONS[PAIRS]}
    return _object_schema({PAIRS: pairs, EXISTING: _string_schema(EXISTING)})


def _read_pairs(spec: Document, asset: Any) -> AssetInput:
    """Read key-value pairs. A pair without a value keeps the stored one.

    With the key ``ssh`` it is an SSH key, which may also have ``known_hosts``; those are not
    secret.
    """
    problems = _unknown_key_problems(spec, {PAIRS, EXISTING, NUMBER})
    keys = list[Any]()
    values = dict[str, str]()
    pairs = spec.get(PAIRS, [])
    if not isinstance(pairs, list):
        pairs = []
        problems = [*problems, Problem((PAIRS,), "must be a list")]
    for number, pair in enumerate(pairs):
        pair_path = (PAIRS, number)
        item = as_mapping(pair)
        problems += _unknown_key_problems(item, {"key", "value"}, pair_path)
        key = item.get("key")
        value = item.get("value")
        if not isinstance(key, str) or not isinstance(value, str | None):
            step = "value" if isinstance(key, str) else "key"
            problems.append(Problem((*pair_path, step), WORDS["string_type"]))
        keys.append(key if isinstance(key, str) else f"key-{number}")
        if value and isinstance(value, str):
            values[keys[-1]] = value
    kind = _kind_of_keys(keys, asset)
    document: Document = {"kind": kind.value}
    if kind is CredentialKind.GENERIC:
        document["keys"] = keys
    else:
        known_hosts = (
            as_mapping(asset.spec_json).get("knownHosts") if asset and KNOWN_HOSTS in keys else None
        )
        document["knownHosts"] = values.pop(KNOWN_HOSTS, known_hosts)
        values = {key: with_last_line_break(value) for key, value in values.items()}
    if EXISTING in spec:
        document["existingSecret"] = spec[EXISTING]

    return _credential_input(
        document, values, problems, partial(_pairs_request_path, keys), pairs=bool(keys)
    )


def _pairs_request_path(keys: list[Any], at: Path) -> Path:
    """Return the path in the request of what is at a path of the document."""
    match at:
        case ("existingSecret", *_):
            return (EXISTING,)
        case (str(head), key) if head == VALUES and key in keys:
            return (PAIRS, keys.index(key), "value")
        case ("knownHosts", *_) if KNOWN_HOSTS in keys:
            return (PAIRS, keys.index(KNOWN_HOSTS), "value")
        case ("keys", int(number)):
            return (PAIRS, number, "key")
    return (PAIRS,)


def _kind_of_keys(keys: list[Any], asset: Any) -> CredentialKind:
    """Return the kind that the keys mean. A generic secret that has ``known_hosts`` among its own
    keys stays generic."""
    current_kind = asset and CredentialKind(
        as_mapping(asset.spec_json).get("kind", CredentialKind.GENERIC)
    )
    if current_kind and not keys:
        return current_kind
    ssh_keys = ["ssh"] if current_kind is CredentialKind.GENERIC else ["ssh", KNOWN_HOSTS]
    is_ssh = "ssh" in keys and len(keys) == len(set(keys)) and set(keys) <= set(ssh_keys)
    return CredentialKind.SSH_KEY if is_ssh else CredentialKind.GENERIC


def _credential_input(
    document: Document,
    values: dict[str, Any],
    problems: list[Problem],
    request_path: Callable[[Path], Path],
    *,
    pairs: bool = False,
) -> AssetInput:
    if document.get("existingSecret") and (values or pairs):
        problems = [*problems, Problem((EXISTING,), NOT_BOTH)]
    entered = {key: value for key, value in values.items() if isinstance(value, str)}
    return AssetInput(document, {"entered": entered}, tuple(problems), request_path)


def _unknown_key_problems(
    document: Document, known_keys: set[str], parent: Path = ()
) -> list[Problem]:
    return [
        Problem((*parent, key), WORDS["extra_forbidden"], "unknown")
        for key in document
        if key not in known_keys
    ]


def _write_pairs(asset: Any) -> Document:
    """Return the keys without values."""
    document = as_mapping(asset.spec_json)
    existing = document.get("existingSecret")
    kind = CredentialKind(document.get("kind", CredentialKind.GENERIC))
    keys = () if existing else KEYS.get(kind, document.get("keys", ()))
    pairs = [{"key": key} for key in keys]
    if hosts := document.get("knownHosts"):
        pairs.append({"key": KNOWN_HOSTS, "value": hosts})
    return {PAIRS: pairs, EXISTING: existing} | _with_number(asset)


def _with_number(asset: Any) -> Document:
    """Return a number for Run:ai's clients, which expect one. It is a part of the id, small enough
    for JavaScript."""
    return {NUMBER: asset.pk.int >> 75}


GENERIC = WireType(
    CredentialKind.GENERIC.value,
    _read_pairs,
    _write_pairs,
    path="generic-secret",
    document_kinds=(CredentialKind.GENERIC.value, CredentialKind.SSH_KEY.value),
    list_key=CredentialKind.GENERIC.value,
    noun_with_article="a generic secret",
    schema=_schema_of_pairs,
)
WIRE = AssetWire(
    "credentials",
    (
        _wire_type(CredentialKind.ACCESS_KEY, "access-key", "an access key"),
        _wire_type(CredentialKind.REGISTRY, "docker-registry", "a docker registry credential"),
        GENERIC,
        _wire_type(CredentialKind.NGC, "ngc-api-key", "an NGC API key"),
        _wire_type(CredentialKind.PASSWORD, "password", "a username and password"),
    ),
)
