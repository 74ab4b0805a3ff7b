"""REST: who the caller is, and what they may do."""

from datetime import datetime
from uuid import UUID

from ninja import Field, Router

from accounts import access
from accounts.api.tokens import ApiRequest
from accounts.models import AccessKey
from accounts.permissions import PERMISSIONS
from core.rest.api import Wire
from projects.models import Project

router = Router(tags=["Access"])


class ProjectRef(Wire):
    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    cluster_id: UUID = Field(description="The ID of the cluster")


class KeyRef(Wire):
    """``scopes`` is empty for a key with all permissions of its owner."""

    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    expires_at: datetime | None = Field(description="When it expires; null for never")
    scopes: list[str] = Field(
        description="The permissions of its owner that it has; empty for all of them"
    )


class MeOut(Wire):
    """``permissions`` are those that you have in any scope. ``accessKey`` is the access key that
    this request uses, or null."""

    username: str = Field(description="The username")
    name: str = Field(description="The name")
    email: str = Field(description="The email address")
    role: str = Field(description="Your role in the whole account; empty if there is none")
    projects: list[ProjectRef] = Field(description="The projects in which you have a role")
    permissions: list[str] = Field(
        description="The permissions that you have in any scope, such as workloads.create"
    )
    access_key: KeyRef | None = Field(
        description="The access key that this call uses; null with a token by password"
    )


@router.get("/me", response=MeOut, by_alias=True)
def get_me(request: ApiRequest) -> MeOut:
    """Who you are, the projects in which you have a role, and what you may do."""
    user = request.user
    key = user.acting_key
    keys = [key.partition(":") for key in access.scopes_of(user)]
    ids = [pk for kind, _, pk in keys if kind == "project"]
    projects = Project.objects.filter(pk__in=ids).order_by("name")
    return MeOut(
        username=user.username,
        name=user.get_full_name(),
        email=user.email,
        role=", ".join(access.account_roles_of([user])[user.pk]),
        projects=[
            ProjectRef(id=str(row.pk), name=row.name, cluster_id=row.cluster_id) for row in projects
        ],
        permissions=sorted(action for action in PERMISSIONS if access.may_anywhere(user, action)),
        access_key=_key_ref(key) if key else None,
    )


def _key_ref(key: AccessKey) -> KeyRef:
    return KeyRef(id=str(key.pk), name=key.name, expires_at=key.expires_at, scopes=key.scopes)
