"""Versions of stored documents: specs, drafts and the documents of assets.

A stored document names its version in ``spec_version``. ``UPGRADES`` has one function for each
version that is no longer the current one. Reading a document applies those that it needs, one after
the other, so all other code knows the current version only.
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from pydantic import BaseModel

from spec.formats.documents import Document, inner_models
from spec.workload import WorkloadSpec

KEY = "spec_version"
#: Changes a document of the given model. It must not fail on a document that is not valid.
Upgrade = Callable[[Document, type[BaseModel]], None]


def to_version_2(document: Document, model: type[BaseModel]) -> None:
    """Add what came after 0.1.0: the queue of Kueue; form, labels and annotations of the job."""
    if issubclass(model, WorkloadSpec):
        document.setdefault("queue", None)
        document.setdefault("jobForm", None)
        document.setdefault("jobLabels", [])
        document.setdefault("jobAnnotations", [])


#: What turns a document of a version into one of the next version. The value of a new field is
#: written out here, so that a later change of its default changes no stored document.
UPGRADES: dict[int, Upgrade] = {1: to_version_2}


def current_version() -> int:
    return len(UPGRADES) + 1


def with_version(document: Any) -> Any:
    """A document as it is stored. Anything but a mapping is stored unchanged."""
    return {**document, KEY: current_version()} if isinstance(document, dict) else document


def upgrade_document(document: Any, model: type[BaseModel]) -> Any:
    """A stored document of ``model`` at the current version, without the number."""
    if not isinstance(document, dict):
        return document
    missing = range(document.get(KEY, 1), current_version())
    current = copy.deepcopy(document) if missing else dict(document)
    current.pop(KEY, None)
    for version in missing:
        UPGRADES[version](current, model)
    return current


def parts(document: Any, model: type[BaseModel], part: type[BaseModel]) -> Iterator[Document]:
    """All mappings in a document of ``model`` that describe a ``part``, such as a container. The
    document itself may be one."""
    if isinstance(document, list):
        for item in document:
            yield from parts(item, model, part)
    elif isinstance(document, dict):
        if issubclass(model, part):
            yield document
        for key, inner in inner_models(model).items():
            if inner and key in document:
                yield from parts(document[key], inner, part)
