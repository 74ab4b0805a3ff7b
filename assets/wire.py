"""Convert between the documents of assets and Run:ai's words for them in REST."""

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
    """An asset as a request describes it: its document, its other columns, and problems.

    The problems are those that validating the document cannot find. Their paths are in the
    request's ``spec``.
    """

    document: Document
    columns: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()
    #: Converts a path in the document to the path in the request's ``spec``.
    request_path: Callable[[Path], Path] = same_path


@dataclass(frozen=True)
class WireType:
    """A kind of asset in REST, or one of its types, such as NFS, with a path of its own.

    ``kind`` is Run:ai's word in ``meta.kind``. ``read`` converts a ``spec`` to what is stored, for
    a new or an existing asset; ``write`` is the inverse, without write-only values.
    """

    kind: str
    read: Callable[[Document, Any], AssetInput]
    write: Callable[[Any], Document]
    #: The path below that of the asset kind; empty if the kind has only one type.
    path: str = ""
    document_kinds: tuple[str, ...] = ()
    #: The values of ``kind`` in documents of this type.
    list_key: str = ""
    #: Its name in the API's description, such as ``an NFS data source``.
    noun_with_article: str = ""
    #: The JSON Schema of its ``spec``.
    schema: Callable[[], Document] = any_object


@dataclass(frozen=True)
class SupportedTypesWire:
    """Converts ``meta.workloadSupportedTypes``, for a kind that only some workloads can use."""

    read: Callable[[Mapping[str, Any]], AssetInput]
    write: Callable[[Any], Document]


@dataclass(frozen=True)
class AssetWire:
    """The REST calls of an asset kind, at ``path`` below ``/api/v1/asset/``. Assets of a
    ``read_only`` kind cannot be created or changed there."""

    path: str
    types: tuple[WireType, ...]
    supported: SupportedTypesWire | None = None
    read_only: bool = False


def without_unsupported_fields(
    document: Document, messages: Mapping[str, str], path: Path = ()
) -> tuple[Document, list[Problem]]:
    """Return a document without Run:ai's fields that have no counterpart here, and problems.

    ``messages`` has a message for each such field. A field that is null or false is removed without
    a problem.
    """
    problems = [
        Problem((*path, key), message, "unknown" if message == WORDS["extra_forbidden"] else "")
        for key, message in messages.items()
        if document.get(key) is not None and document[key] is not False
    ]
    return {key: value for key, value in document.items() if key not in messages}, problems


def without_unsupported_in_items(
    document: Document, names: Iterable[str], messages: Mapping[str, str] = UNSUPPORTED_IN_ITEMS
) -> tuple[Document, list[Problem]]:
    """Apply :func:`without_unsupported_fields` to the items of the lists ``names``. A value that is
    no list stays, for the spec to refuse."""
    remaining_document = dict(document)
    problems = list[Problem]()
    for name in names:
        items = document.get(name)
        if not isinstance(items, list):
            continue
        remaining_items = []
        for number, item in enumerate(items):
            remaining_item, item_problems = without_unsupported_fields(
                as_mapping(item), messages, (name, number)
            )
            remaining_items.append(remaining_item if isinstance(item, dict) else item)
            problems += item_problems
        remaining_document[name] = remaining_items
    return remaining_document, problems
