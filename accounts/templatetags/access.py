"""Check permissions in templates: ``{% may "projects.update" project as may_edit %}``."""

from typing import Protocol

from django import template

from accounts import access

register = template.Library()


class HasScopes(Protocol):
    @property
    def scope_keys(self) -> tuple[str, ...]: ...


@register.simple_tag(takes_context=True)
def may(context: template.Context, action: str, thing: HasScopes | None = None) -> bool:
    """Whether the user of the page may perform an action on ``thing``, or anywhere without one."""
    user = context["user"]
    if not thing:
        return access.may_anywhere(user, action)
    return access.may(user, action, *thing.scope_keys)
