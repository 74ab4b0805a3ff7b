"""Credentials in REST: values are accepted and never returned. Each type has a path of its own."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from assets.credential.form import VALUES
from assets.wire import AssetWire, Given, WireType
from spec.data.credential import KEYS, KNOWN_HOSTS, CredentialKind
from spec.formats.documents import Document
from spec.formats.stored import as_mapping
from spec.problems.errors import WORDS, Path, Problem

EXISTING = "existingSecretName"
PAIRS = "keyValuePairs"
NUMBER = "keyId"
#: Run:ai's words for the keys of each type, and for fields that are not secret.
WORDS_OF: dict[CredentialKind, tuple[str, ...]] = {
    CredentialKind.ACCESS_KEY: ("accessKeyId", "secretAccessKey"),
    CredentialKind.PASSWORD: ("user", "password"),
    CredentialKind.REGISTRY: ("user", "password"),
    CredentialKind.NGC: ("ngc_api_key",),
}
PLAIN: dict[CredentialKind, Mapping[str, str]] = {
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


def _type(kind: CredentialKind, path: str, one: str) -> WireType:
    keys = dict(zip(WORDS_OF[kind], KEYS[kind], strict=True))
    plain = {**PLAIN.get(kind, {}), EXISTING: "existingSecret"}
    wire = {field: (word,) for word, field in plain.items()}
    wire |= {key: (word,) for word, key in keys.items()}

    def read(spec: Document, asset: Any) -> Given:
        wrong = _strays(spec, {*keys, *plain, NUMBER})
        values = {key: spec[word] for word, key in keys.items() if word in spec}
        wrong += [
            Problem(wire[key], WORDS["string_type"])
            for key, value in values.items()
            if not isinstance(value, str)
        ]
        document = {field: spec[word] for word, field in plain.items() if word in spec}
        return _given({"kind": kind.value, **document}, values, wrong, place)

    def place(at: Path) -> Path:
        step = at[-1:] if at[:1] == (VALUES,) else at[:1]
        return wire.get("".join(map(str, step)), at)

    def write(asset: Any) -> Document:
        document = as_mapping(asset.spec_json)
        return {word: document.get(field) for word, field in plain.items()} | _numbered(asset)

    def schema() -> Document:
        values = {word: _text(word) | {"writeOnly": True} for word in keys}
        return _closed(values | {word: _text(word) for word in plain})

    return WireType(
        kind.value,
        read,
        write,
        path=path,
        of=(kind.value,),
        below=kind.value,
        one=one,
        schema=schema,
    )


def _text(word: str) -> Document:
    return {"type": "string", "description": DESCRIPTIONS[word]}


def _closed(properties: Document) -> Document:
    return {"type": "object", "additionalProperties": False, "properties": properties}


def _schema_of_pairs() -> Document:
    """Return the schema of pairs. A value that is left out of a change stays."""
    value = _text("value") | {"writeOnly": True}
    pair = _closed({"key": _text("key"), "value": value}) | {"required": ["key"]}
    pairs = {"type": "array", "items": pair, "description": DESCRIPTIONS[PAIRS]}
    return _closed({PAIRS: pairs, EXISTING: _text(EXISTING)})


def _read_pairs(spec: Document, asset: Any) -> Given:
    """Read key-value pairs. A pair without a value keeps the stored one.

    With the key ``ssh`` it is an SSH key, which may also have ``known_hosts``; those are not
    secret.
    """
    wrong = _strays(spec, {PAIRS, EXISTING, NUMBER})
    keys = list[Any]()
    values = dict[str, str]()
    given = spec.get(PAIRS, [])
    if not isinstance(given, list):
        given = []
        wrong = [*wrong, Problem((PAIRS,), "must be a list")]
    for number, pair in enumerate(given):
        at = (PAIRS, number)
        item = as_mapping(pair)
        wrong += _strays(item, {"key", "value"}, at)
        key = item.get("key")
        value = item.get("value")
        if not isinstance(key, str) or not isinstance(value, str | None):
            step = "value" if isinstance(key, str) else "key"
            wrong.append(Problem((*at, step), WORDS["string_type"]))
        keys.append(key if isinstance(key, str) else f"key-{number}")
        if value and isinstance(value, str):
            values[keys[-1]] = value
    kind = _kind(keys, asset)
    document: Document = {"kind": kind.value}
    if kind is CredentialKind.GENERIC:
        document["keys"] = keys
    else:
        kept = (
            as_mapping(asset.spec_json).get("knownHosts") if asset and KNOWN_HOSTS in keys else None
        )
        document["knownHosts"] = values.pop(KNOWN_HOSTS, kept)
        values = {key: f"{value.rstrip()}\n" for key, value in values.items()}
    if EXISTING in spec:
        document["existingSecret"] = spec[EXISTING]

    return _given(document, values, wrong, partial(_place, keys), pairs=bool(keys))


def _place(keys: list[Any], at: Path) -> Path:
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


def _kind(keys: list[Any], asset: Any) -> CredentialKind:
    """Return the kind that the keys mean. A generic secret that has ``known_hosts`` among its own
    keys stays generic."""
    now = asset and CredentialKind(as_mapping(asset.spec_json).get("kind", CredentialKind.GENERIC))
    if now and not keys:
        return now
    by_ssh = ["ssh"] if now is CredentialKind.GENERIC else ["ssh", KNOWN_HOSTS]
    is_ssh = "ssh" in keys and len(keys) == len(set(keys)) and set(keys) <= set(by_ssh)
    return CredentialKind.SSH_KEY if is_ssh else CredentialKind.GENERIC


def _given(
    document: Document,
    values: dict[str, Any],
    wrong: list[Problem],
    place: Callable[[Path], Path],
    *,
    pairs: bool = False,
) -> Given:
    if document.get("existingSecret") and (values or pairs):
        wrong = [*wrong, Problem((EXISTING,), NOT_BOTH)]
    entered = {key: value for key, value in values.items() if isinstance(value, str)}
    return Given(document, {"entered": entered}, tuple(wrong), place)


def _strays(document: Document, words: set[str], at: Path = ()) -> list[Problem]:
    return [
        Problem((*at, key), WORDS["extra_forbidden"], "unknown")
        for key in document
        if key not in words
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
    return {PAIRS: pairs, EXISTING: existing} | _numbered(asset)


def _numbered(asset: Any) -> Document:
    """Return a number for Run:ai's clients, which expect one. It is a part of the id, small enough
    for JavaScript."""
    return {NUMBER: asset.pk.int >> 75}


GENERIC = WireType(
    CredentialKind.GENERIC.value,
    _read_pairs,
    _write_pairs,
    path="generic-secret",
    of=(CredentialKind.GENERIC.value, CredentialKind.SSH_KEY.value),
    below=CredentialKind.GENERIC.value,
    one="a generic secret",
    schema=_schema_of_pairs,
)
WIRE = AssetWire(
    "credentials",
    (
        _type(CredentialKind.ACCESS_KEY, "access-key", "an access key"),
        _type(CredentialKind.REGISTRY, "docker-registry", "a docker registry credential"),
        GENERIC,
        _type(CredentialKind.NGC, "ngc-api-key", "an NGC API key"),
        _type(CredentialKind.PASSWORD, "password", "a username and password"),
    ),
)
