"""Items of lists that one flag describes in several words: ``claimname=data,path=/data,ro``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from trainyard_cli.flags.values import BadValue, Environ, NotWritable, ValueKind

Item = dict[str, Any]


@dataclass(frozen=True)
class ItemWords:
    """The words of such a flag.

    ``words`` have a value, which belongs at their path in the item; it is a number for those in
    ``numbers``, and for those in ``lists`` a list with ``:`` between its texts. ``marks`` stand
    alone, each for one value at its path. Every item has the values in ``fixed``. ``refused`` says
    what to write instead of a word.
    """

    words: Mapping[str, str]
    marks: Mapping[str, tuple[str, Any]] = field(default_factory=dict)
    fixed: Mapping[str, Any] = field(default_factory=dict)
    numbers: frozenset[str] = frozenset()
    lists: frozenset[str] = frozenset()
    refused: Mapping[str, str] = field(default_factory=dict)
    alone: str = ""  # the word that a text without words is the value of

    def kind(self, *, many: bool = True) -> ValueKind:
        """Return the kind of a flag with these words. With ``many``, the flag can be repeated."""
        words = ",".join([*(f"{word}=" for word in self._distinct_words()), *self.marks])
        return ValueKind("WORD=…", self.read, self.write, many=many, words=words)

    def _distinct_words(self) -> list[str]:
        """Return the words, without those that mean the same as an earlier one."""
        paths: dict[str, str] = {}
        for word, path in self.words.items():
            paths.setdefault(path, word)
        return list(paths.values())

    def read(self, text: str, _: Environ) -> Item:
        """Return the item that a text describes. Raises ``BadValue``."""
        item: Item = {}
        for key, value in self.fixed.items():
            put(item, key, value)
        if self.alone and "=" not in text and text not in self.marks:
            text = f"{self.alone}={text}"
        for part in text.split(","):
            word, equals, value = part.partition("=")
            if equals and word in self.words:
                put(item, self.words[word], self._read_value(word, value))
            elif word in self.marks and value in {"", "true"}:
                put(item, *self.marks[word])
            else:
                raise BadValue(self._explain(word, part))
        return item

    def _explain(self, word: str, part: str) -> str:
        if word in self.refused:
            return self.refused[word]
        if word in self.words:
            return f"{word} needs a value: {word}=…"
        return f"{part!r} is not one of {self.kind().words}"

    def _read_value(self, word: str, text: str) -> Any:
        if word in self.lists:
            return text.split(":")
        if word not in self.numbers:
            return text
        if not text.isdecimal():
            raise BadValue(f"{word}={text} is not a whole number")
        return int(text)

    def write(self, item: Any) -> str:
        """Return the text that describes an item. Raises ``Unsayable`` if no text does."""
        if not isinstance(item, dict):
            raise NotWritable
        leaves = _leaves(item)
        for path, value in self.fixed.items():
            if leaves.pop(path, None) != value:
                raise NotWritable
        parts = [
            f"{word}={self._write_value(word, leaves.pop(self.words[word]))}"
            for word in self._distinct_words()
            if self.words[word] in leaves
        ]
        for mark, (path, value) in self.marks.items():
            if path in leaves and leaves[path] is value:
                parts.append(mark)
                del leaves[path]
        if leaves or not parts:
            raise NotWritable
        return ",".join(parts)

    def _write_value(self, word: str, value: Any) -> str:
        if word in self.lists and isinstance(value, list):
            text = ":".join(value) if all(isinstance(it, str) for it in value) else ","
        elif word in self.numbers and type(value) is int:
            text = str(value)
        else:
            text = value if isinstance(value, str) else ","
        if "," in text or (word in self.lists and value != text.split(":")):
            raise NotWritable
        return text


def put(into: Item, path: str, value: Any) -> None:
    """Put a value into a dict at a dotted path. Inner dicts on the way are copied."""
    *above, last = path.split(".")
    for key in above:
        inner = into.get(key)
        into[key] = inner = dict(inner) if isinstance(inner, dict) else {}
        into = inner
    into[last] = value


def get(values: Any, path: str) -> Any:
    """Return the value at a dotted path, or ``None`` if there is nothing."""
    for key in path.split("."):
        if not isinstance(values, dict):
            return None
        values = values.get(key)
    return values


def _leaves(item: Item, within: str = "") -> dict[str, Any]:
    """Return the values of a nested dict by their dotted paths. An empty dict counts as a value."""
    leaves: dict[str, Any] = {}
    for key, value in item.items():
        inner = _leaves(value, f"{within}{key}.") if isinstance(value, dict) and value else {}
        leaves |= inner or {within + key: value}
    return leaves


ACCESS = "claimInfo.accessModes"
MODES = {"rwo": "readWriteOnce", "rom": "readOnlyMany", "rwm": "readWriteMany"}
CREDENTIAL = (
    "a password does not belong on a command line; create a credential, use credential=NAME"
)

EXISTING_PVC = ItemWords(
    {"claimname": "claimName", "path": "path", "name": "name"},
    {"ro": ("readOnly", True)},
    {"existingPvc": True},
)
NEW_PVC = ItemWords(
    {
        "claimname": "claimName",
        "storageclass": "claimInfo.storageClass",
        "size": "claimInfo.size",
        "path": "path",
        "name": "name",
        "volumemode": "claimInfo.volumeMode",
    },
    {f"accessmode-{mode}": (f"{ACCESS}.{path}", True) for mode, path in MODES.items()}
    | {"ro": ("readOnly", True), "ephemeral": ("ephemeral", True)},
)


def _read_claim(text: str, environ: Environ) -> Item:
    """Return the claim that a text describes.

    It has the access modes that were named; without any, the usual one.
    """
    item = NEW_PVC.read(text, environ)
    modes = get(item, ACCESS) or {}
    if modes.pop("readWriteOnce", False) is False and modes:
        put(item, f"{ACCESS}.readWriteOnce", False)
    elif get(item, ACCESS) == {}:
        del item["claimInfo"]["accessModes"]
    return item


def _write_claim(item: Any) -> str:
    """Return the text of a claim. A false readWriteOnce, which reading adds, is left out."""
    modes = dict(get(item, ACCESS) or {})
    if modes:
        once = modes.pop("readWriteOnce", True)
        inner = {
            **item["claimInfo"],
            "accessModes": modes | ({"readWriteOnce": True} if once else {}),
        }
        item = {**item, "claimInfo": inner}
    return NEW_PVC.write(item)


CLAIMS = ValueKind("WORD=…", _read_claim, _write_claim, many=True, words=NEW_PVC.kind().words)
NFS = ItemWords(
    {"path": "path", "server": "server", "mountpath": "mountPath", "name": "name"},
    {"readwrite": ("readOnly", False)},
)
HOST_PATH = ItemWords(
    {
        "path": "path",
        "mount": "mountPath",
        "mount-propagation": "mountPropagation",
        "name": "name",
    },
    {"readwrite": ("readOnly", False)},
)
GIT = ItemWords(
    {
        "name": "name",
        "repository": "repository",
        "source": "repository",
        "path": "path",
        "target": "path",
        "secret": "secretRef.name",
        "credential": "credential.name",
        "rev": "revision",
        "branch": "branch",
    },
    refused={"username": CREDENTIAL, "password": CREDENTIAL},
)
S3 = ItemWords(
    {
        "name": "name",
        "bucket": "bucket",
        "path": "path",
        "target": "path",
        "accesskey": "accessKeySecret",
        "credential": "credential.name",
        "url": "url",
    },
    refused={"key": CREDENTIAL, "secret": CREDENTIAL},
)
CONFIG_MAP = ItemWords(
    {
        "name": "configMap",
        "path": "mountPath",
        "subpath": "subPath",
        "default-mode": "defaultMode",
        "title": "name",
    }
)
SECRET = ItemWords(
    {"name": "secret", "path": "mountPath", "default-mode": "defaultMode", "title": "name"}
)
EMPTY_DIR = ItemWords(
    {"name": "name", "path": "path", "medium": "medium", "size-limit": "sizeLimit"}
)
TOLERATION = ItemWords(
    {
        "operator": "operator",
        "key": "key",
        "value": "value",
        "effect": "effect",
        "seconds": "seconds",
        "name": "name",
    },
    numbers=frozenset({"seconds"}),
)
TOOL = {
    "tool": "toolType",
    "name": "toolName",
    "access": "authorizationType",
    "authusers": "authorizedUsers",
    "authgroups": "authorizedGroups",
}
TOOL_LISTS = frozenset({"authusers", "authgroups"})
EXTERNAL_URL = ItemWords(
    {"container": "container", "url": "url", **TOOL},
    numbers=frozenset({"container"}),
    lists=TOOL_LISTS,
    alone="container",
)
PORT = ItemWords(
    {"service-type": "serviceType", "container": "container", "external": "external", **TOOL},
    numbers=frozenset({"container", "external"}),
    lists=TOOL_LISTS,
    alone="container",
)
RELATED_URL = ItemWords({"type": "type", "url": "url", "name": "name"})
TOPOLOGY = ItemWords({"name": "name", "required": "required", "preferred": "preferred"})
