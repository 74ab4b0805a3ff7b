"""The form of a kind of asset in REST: converts between Run:ai's words and its document."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from spec.formats.documents import Document
from spec.formats.stored import as_mapping
from spec.problems.errors import WORDS, Path, Problem

NOT_SUPPORTED = "is not supported; leave it out"
#: What Run:ai's clients send with existing items.
UNSUPPORTED_IN_ITEMS: Mapping[str, str] = {"exclude": NOT_SUPPORTED}


def same_path(path: Path) -> Path:
    return path


def any_object() -> Document:
    return {"type": "object"}


@dataclass(frozen=True)
class AssetInput:
    """An asset as a request describes it: its document, its other columns, and problems that the
    document cannot express, with paths in the request's ``spec``."""

    document: Document
    columns: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    #: The path in the request's ``spec`` of what is at this path of the document.
    request_path: Callable[[Path], Path] = same_path


@dataclass(frozen=True)
class WireType:
    """A kind of asset, or one of its types such as NFS, with a path of its own.

    ``kind`` is Run:ai's word in ``meta.kind``. ``read`` converts a ``spec`` to what is stored, for
    a new or an existing asset; ``write`` is the inverse, without write-only values.
    """

    kind: str
    read: Callable[[Document, Any], AssetInput]
    write: Callable[[Any], Document]
    #: The subpath below the kind's, and the values of ``kind`` that its documents have.
    path: str = ""
    document_kinds: tuple[str, ...] = ()
    #: The key of its spec in the list of all types.
    list_key: str = ""
    #: Its name in the API's description, such as ``an NFS data source``.
    noun_with_article: str = ""
    #: The JSON Schema of its ``spec``.
    schema: Callable[[], Document] = any_object


@dataclass(frozen=True)
class SupportedTypesWire:
    """``meta.workloadSupportedTypes`` of a kind that only some workloads can use."""

    read: Callable[[Mapping[str, Any]], AssetInput]
    write: Callable[[Any], Document]


@dataclass(frozen=True)
class AssetWire:
    """REST calls of a kind at ``path`` below ``/api/v1/asset/``. One that is ``read_only`` is
    created elsewhere."""

    path: str
    types: tuple[WireType, ...]
    supported: SupportedTypesWire | None = None
    read_only: bool = False


def without_unsupported_fields(
    document: Document, lacks: Mapping[str, str], at: Path = ()
) -> tuple[Document, list[Problem]]:
    """Remove Run:ai's fields that have no counterpart here. Null and false are ignored; for any
    other value the table has the message."""
    wrong = [
        Problem((*at, key), why, "unknown" if why == WORDS["extra_forbidden"] else "")
        for key, why in lacks.items()
        if document.get(key) is not None and document[key] is not False
    ]
    return {key: value for key, value in document.items() if key not in lacks}, wrong


def without_unsupported_in_items(
    document: Document, names: Iterable[str], lacks: Mapping[str, str] = UNSUPPORTED_IN_ITEMS
) -> tuple[Document, list[Problem]]:
    """Apply :func:`without` to the items of these lists. Anything but a list is left for the spec
    to refuse."""
    whole = dict(document)
    wrong = list[Problem]()
    for name in names:
        if not isinstance(items := document.get(name), list):
            continue
        left = []
        for number, item in enumerate(items):
            rest, problems = without_unsupported_fields(as_mapping(item), lacks, (name, number))
            left.append(rest if isinstance(item, dict) else item)
            wrong += problems
        whole[name] = left
    return whole, wrong
