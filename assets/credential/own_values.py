"""Decide who may enter a running workload: by terminals, programs, forwarded ports and tools.

Inside a workload, people can read the values that it started with. While it uses personal
credentials of its author, it is therefore closed to everyone else, administrators included.
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
from spec.tools import UNGUARDED, served_tools
from spec.workload import WorkloadSpec

PERSONAL_TEXT = "credentials of its author's own; to share it, choose credentials of the project"
# A program without this permission does not use its owner's own credentials either.
READ_CREDENTIALS = Credential.permission("read")


class EnterableWorkload(Protocol):
    """A workload, with the links to its assets."""

    name: Any
    created_by: Any
    created_by_id: Any
    assets: Any


def why_kept_out(workload: EnterableWorkload, user: User) -> str:
    """Return why ``user`` may not enter the workload, whatever else they may do with it; empty if
    they may."""
    is_author = workload.created_by_id == user.pk
    if (is_author and access.may_with_own(user, READ_CREDENTIALS)) or not is_private(workload):
        return ""
    if is_author:
        return access.missing_permission_text(READ_CREDENTIALS, user)
    author: User | None = workload.created_by
    ownership_text = (
        f"belong to {author} alone" if author else "belonged to a user who no longer exists"
    )
    advice = f"Ask {author}, or copy" if author else "Copy"
    return (
        f"{workload.name} uses credentials that {ownership_text}, "
        "and anyone inside it could read their "
        f"values. {advice} the workload and choose credentials of the project."
    )


def is_private(workload: EnterableWorkload) -> bool:
    """Whether the workload uses personal credentials of its author.

    They are deleted with their owner's account. If the author has no account any more, a credential
    that no longer exists therefore counts as personal.
    """
    links = workload.assets.filter(kind=CREDENTIAL.slug)
    credential_ids = set(links.values_list("asset_id", flat=True))
    if workload.created_by_id is None:
        return Credential.objects.shared().filter(pk__in=credential_ids).count() < len(
            credential_ids
        )
    return _has_personal(credential_ids)


def tool_warnings(spec: WorkloadSpec, assets: Iterable[Reference]) -> Iterator[Problem]:
    """Yield a warning for each tool of a workload with personal credentials that is open to anyone,
    or closed to people whom it names."""
    tools = [
        (tool, tool.connection.connection_type in UNGUARDED)
        for tool in served_tools(spec)
        if tool.connection.connection_type in UNGUARDED or tool.connection.authorization_type
    ]
    if not tools or not _has_personal({pk for _, kind, pk in assets if kind == CREDENTIAL.slug}):
        return
    for tool, is_unguarded in tools:
        path = parse_path(tool.field)
        name = tool.connection.name
        if is_unguarded:
            text = (
                f"{name} is open to anyone who reaches its port, and the workload uses "
                f"{PERSONAL_TEXT}"
            )
            yield Problem((*path, "connectionType"), text)
        else:
            text = f"{name} is open to its author alone, because the workload uses {PERSONAL_TEXT}"
            yield Problem((*path, "authorizationType"), text)


def _has_personal(credentials: set[UUID]) -> bool:
    return Credential.objects.exclude(SHARED).filter(pk__in=credentials).exists()
