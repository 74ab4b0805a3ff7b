"""Who may open a tool. Used by Trainyard's own proxy and for a cluster's ingress controller."""

import json
import secrets
from dataclasses import asdict, dataclass
from uuid import UUID

from accounts.models import User
from accounts.sessions import user_of_session
from assets.credential import own_values
from core.broker.valkey import valkey_connection
from spec.parts.environment import Access
from spec.phases import RankPhase
from spec.tools import UNGUARDED, Tool, served_tools
from workloads.models import Workload
from workloads.tools.names import is_named

CODE_SECONDS = 60
GRANT_SECONDS = 12 * 3600
CODE = "tool-code:"
GRANT = "tool-grant:"


@dataclass(frozen=True)
class Grant:
    """A user's access to one tool of one workload, for as long as their session lasts."""

    user_id: int
    session_key: str
    workload_id: str
    slug: str


def tools_of_workload(workload: Workload) -> tuple[Tool, ...]:
    """Return the tools of a workload; none if its spec is no longer valid."""
    return () if workload.spec_fault else served_tools(workload.spec)


def find_usable_tool(user: User, workload_id: UUID, slug: str) -> tuple[Workload, Tool] | None:
    """Return a workload and its tool if this person may use it: its rule lets them in, and nothing
    keeps them out of the workload."""
    found = find_permitted_tool(user, workload_id, slug)
    if found is None:
        return None
    workload, _ = found
    return None if own_values.why_kept_out(workload, user) else found


def find_permitted_tool(user: User, workload_id: UUID, slug: str) -> tuple[Workload, Tool] | None:
    """Return a workload and its tool if the tool's rule lets this person in. A rule may name people
    who do not see the workload."""
    workloads = Workload.objects.filter(deleted_at=None).select_related("project", "cluster")
    workload = workloads.filter(pk=workload_id).first()
    if workload is None:
        return None
    tool = next((tool for tool in tools_of_workload(workload) if tool.slug == slug), None)
    if tool is None or not _may_use(user, workload, tool):
        return None
    return workload, tool


def _may_use(user: User, workload: Workload, tool: Tool) -> bool:
    """Whether the tool's rule admits the user. The author is always admitted while they see the
    workload."""
    rule = tool.connection
    if rule.authorization_type is Access.EVERYONE:
        return True
    visible = Workload.objects.visible_to(user).filter(pk=workload.pk).exists()
    if workload.created_by_id == user.pk and visible:
        return True
    if rule.authorization_type is Access.USERS:
        return is_named(user, rule.authorized_users)
    if rule.authorization_type is Access.GROUPS:
        return user.user_groups.filter(name__in=rule.authorized_groups).exists()
    return visible


def audience(workload: Workload, tool: Tool) -> str:
    """Return in words for whom the tool is open."""
    rule = tool.connection
    author = workload.created_by
    if rule.connection_type in UNGUARDED:
        return "Anyone who reaches its port"
    if own_values.is_private(workload):
        return f"Only {author.username}" if author else "Nobody"
    if rule.authorization_type is Access.EVERYONE:
        return Access.EVERYONE.label
    if rule.authorization_type is Access.USERS:
        return ", ".join(rule.authorized_users)
    if rule.authorization_type is Access.GROUPS:
        return f"Groups {', '.join(rule.authorized_groups)}"
    return f"Members of {workload.project.name}"


def why_closed(workload: Workload, tool: Tool) -> str:
    """Return why the tool cannot be opened now; empty if it can."""
    rank = workload.ranks.filter(rank=tool.pod.rank).first()
    if rank and rank.phase == RankPhase.RUNNING:
        return ""
    return f"{tool.connection.name} can be opened while {tool.pod.name} runs."


def issue_code(grant: Grant) -> str:
    """Return a code that can be used once, to carry a grant from our address to that of the
    tool."""
    code = secrets.token_urlsafe(32)
    valkey_connection().set(CODE + code, json.dumps(asdict(grant)), ex=CODE_SECONDS)
    return code


def redeem_code(code: str, workload_id: UUID, slug: str) -> str:
    """Exchange a code for the secret of a grant, which becomes a cookie at the tool's address.
    Empty if the code is not valid for this tool."""
    stored = valkey_connection().getdel(CODE + code)  # in one command, so that it works only once
    if not stored or not _is_grant_for(_parse_grant(stored), workload_id, slug):
        return ""
    secret = secrets.token_urlsafe(32)
    valkey_connection().set(GRANT + secret, stored, ex=GRANT_SECONDS)
    return secret


def find_admitted(secret: str, workload_id: UUID, slug: str) -> tuple[User, Workload, Tool] | None:
    """Return the user, workload and tool of a secret; ``None`` unless its user is still signed in
    and may still use the tool."""
    stored = valkey_connection().get(GRANT + secret) if secret else None
    grant = _parse_grant(stored) if stored else None
    if grant is None or not _is_grant_for(grant, workload_id, slug):
        return None
    user = user_of_session(grant.session_key)
    if user is None or user.pk != grant.user_id:
        return None
    found = find_usable_tool(user, workload_id, slug)
    return (user, *found) if found else None


def _parse_grant(stored: bytes | str) -> Grant:
    return Grant(**json.loads(stored))


def _is_grant_for(grant: Grant, workload_id: UUID, slug: str) -> bool:
    return (grant.workload_id, grant.slug) == (str(workload_id), slug)
