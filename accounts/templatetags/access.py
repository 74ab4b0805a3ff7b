"""Whether a page offers something: ``{% may "projects.update" project as may_edit %}``."""

from typing import Protocol

from django import template

from accounts import access

register = template.Library()


class HasScopes(Protocol):
    @property
    def scope_keys(self) -> tuple[str, ...]: ...


@register.simple_tag(takes_context=True)
def may(context: template.Context, action: str, thing: HasScopes | None = None) -> bool:
    """Whether the reader may do it to ``thing``; without one, whether they may do it anywhere."""
    user = context["user"]
    return (
        access.may(user, action, *thing.scope_keys) if thing else access.may_anywhere(user, action)
    )
