"""Find the scope that an asset belongs to, from the ``meta`` of a request."""

from accounts.models import User
from assets.api.schemas import AssetMetaIn
from core.rest.api import Issue
from projects.api.scopes import AssetScope, shared_scope_from
from projects.scopes import OwningScope


def scope_from_meta(
    meta: AssetMetaIn, user: User, *, personal: bool = False
) -> tuple[OwningScope | None, list[Issue]]:
    """Return the scope in ``meta``, or ``None`` and the issues with it.

    Ids that the scope does not need may be given, but must be right. ``personal`` is whether the
    kind of asset can be personal.
    """
    return (
        _personal_scope(meta, user)
        if meta.private and personal
        else shared_scope_from(meta, user, prefix="meta.")
    )


def _personal_scope(meta: AssetMetaIn, user: User) -> tuple[OwningScope | None, list[Issue]]:
    if meta.scope is not AssetScope.TENANT:
        details = "must be tenant for what is private: it can be used in all projects"
        return None, [Issue(field="meta.scope", details=details)]
    return OwningScope(owner=user), []
