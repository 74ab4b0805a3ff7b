"""How REST speaks of a kind of asset: Run:ai's words for what its document holds, both ways."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.formats.documents import Document
from spec.formats.stored import mapping
from spec.problems.errors import Path, Problem

NOT_HERE = "is not supported; leave it out"
#: What Run:ai's clients send of items that are there.
EXCLUDE: Mapping[str, str] = {"exclude": NOT_HERE}


def unchanged(path: Path) -> Path:
    return path


def anything() -> Document:
    return {"type": "object"}


@dataclass(frozen=True)
class Given:
    """What a request says of an asset: its document, what stands in columns beside it, and what is
    wrong that no document could say, by the paths of the request's ``spec``."""

    document: Document
    columns: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    #: Where the request's ``spec`` had what is at this path of the document.
    place: Callable[[Path], Path] = unchanged


@dataclass(frozen=True)
class WireType:
    """What has a path of its own: a kind of asset, or one type of it, such as NFS.

    ``kind`` is Run:ai's word in ``meta.kind``. ``read`` makes of a ``spec`` what is stored, of a
    new asset or of one that exists; ``write`` is the way back, without what is write-only.
    """

    kind: str
    read: Callable[[Document, Any], Given]
    write: Callable[[Any], Document]
    #: Below the path of the kind; which values of ``kind`` its documents have.
    path: str = ""
    of: tuple[str, ...] = ()
    #: In the list of all types the spec is below this word, too.
    below: str = ""
    #: What the description of the API calls one, such as ``an NFS data source``.
    one: str = ""
    #: And how it describes its ``spec``, by JSON Schema.
    schema: Callable[[], Document] = anything


@dataclass(frozen=True)
class Supported:
    """``meta.workloadSupportedTypes``, of a kind that not every workload can use."""

    read: Callable[[Mapping[str, Any]], Given]
    write: Callable[[Any], Document]


@dataclass(frozen=True)
class AssetWire:
    """``path`` stands below ``/api/v1/asset/``. What is ``read_only`` there is made elsewhere."""

    path: str
    types: tuple[WireType, ...]
    supported: Supported | None = None
    read_only: bool = False


def without(
    document: Document, lacks: Mapping[str, str], at: Path = ()
) -> tuple[Document, list[Problem]]:
    """What is left without the fields of Run:ai's that have no counterpart here. Null and false say
    nothing; for any other value the table has the answer."""
    wrong = [
        Problem((*at, key), why)
        for key, why in lacks.items()
        if document.get(key) is not None and document[key] is not False
    ]
    return {key: value for key, value in document.items() if key not in lacks}, wrong


def without_in_items(
    document: Document, names: Iterable[str], lacks: Mapping[str, str] = EXCLUDE
) -> tuple[Document, list[Problem]]:
    """The same of the items of these lists. What is no list stays for the spec to refuse."""
    whole, wrong = dict(document), list[Problem]()
    for name in names:
        if not isinstance(items := document.get(name), list):
            continue
        left = []
        for number, item in enumerate(items):
            rest, problems = without(mapping(item), lacks, (name, number))
            left.append(rest if isinstance(item, dict) else item)
            wrong += problems
        whole[name] = left
    return whole, wrong
