"""Who may go into a running workload: terminals, programs, forwarded ports and tools all ask here.

Inside, the values that a workload started with can be read. So while it uses credentials that
belong to its author alone, it is closed to everyone else, administrators included.
"""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol
from uuid import UUID

from accounts import access
from accounts.models import User
from assets.credential.kind import CREDENTIAL
from assets.credential.model import SHARED, Credential
from assets.links import Reference
from spec.problems.errors import Problem, parse_path
from spec.tools import UNGUARDED, tools_of
from spec.workload import WorkloadSpec

PERSONAL_TEXT = "credentials of its author's own; to share it, choose credentials of the project"
READ_ASSETS = (
    "assets.read"  # without which a program does not use its owner's own credentials either
)


class EnterableWorkload(Protocol):
    """A workload, with the links to its assets."""

    name: Any
    created_by: Any
    created_by_id: Any
    assets: Any


def why_kept_out(workload: EnterableWorkload, user: User) -> str:
    """Why ``user`` may not go in, whatever else they may do with the workload; empty where nothing
    keeps them out."""
    is_author = workload.created_by_id == user.pk
    if (is_author and access.may_with_own(user, READ_ASSETS)) or not is_private(workload):
        return ""
    if is_author:
        return access.missing_permission_text(READ_ASSETS, user)
    author: User | None = workload.created_by
    whose = f"belong to {author} alone" if author else "belonged to a user who no longer exists"
    ask = f"Ask {author}, or copy" if author else "Copy"
    return (
        f"{workload.name} uses credentials that {whose}, and whoever is inside could read their "
        f"values. {ask} the workload and choose credentials of the project."
    )


def is_private(workload: EnterableWorkload) -> bool:
    """Whether it uses credentials of its author's own. They go with their owner's account: of an
    author without one, a credential that no longer exists counts as such."""
    links = workload.assets.filter(kind=CREDENTIAL.slug)
    used = set(links.values_list("asset_id", flat=True))
    if workload.created_by_id is None:
        return Credential.objects.shared().filter(pk__in=used).count() < len(used)
    return _has_personal(used)


def tool_warnings(spec: WorkloadSpec, assets: Iterable[Reference]) -> Iterator[Problem]:
    """Which of its tools are not open to whom they name, or open to anyone, in a workload that uses
    credentials of its author's own."""
    tools = [
        (tool, tool.connection.connection_type in UNGUARDED)
        for tool in tools_of(spec)
        if tool.connection.connection_type in UNGUARDED or tool.connection.authorization_type
    ]
    if not tools or not _has_personal({pk for _, kind, pk in assets if kind == CREDENTIAL.slug}):
        return
    for tool, is_unguarded in tools:
        place = parse_path(tool.field)
        name = tool.connection.name
        if is_unguarded:
            text = (
                f"{name} is open to whoever reaches its port, and the workload uses {PERSONAL_TEXT}"
            )
            yield Problem((*place, "connectionType"), text)
        else:
            text = f"{name} is open to its author alone, because the workload uses {PERSONAL_TEXT}"
            yield Problem((*place, "authorizationType"), text)


def _has_personal(credentials: set[UUID]) -> bool:
    return Credential.objects.exclude(SHARED).filter(pk__in=credentials).exists()
