"""Users, sign-in, access rules and access keys, as a Django application."""

from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

from accounts.permissions import PREDEFINED_ROLES


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        post_migrate.connect(store_predefined_roles, sender=self)


def store_predefined_roles(using: str, **_: Any) -> None:
    """Store the predefined roles as this version has them. The tables that another program
    flushed get them again."""
    from accounts.models import AccessRole

    if AccessRole._meta.db_table not in connections[using].introspection.table_names():
        return  # migrated back to before there were roles
    roles = AccessRole.objects.using(using)
    for role in PREDEFINED_ROLES:
        values = {
            "description": role.description,
            "permissions": sorted(role.permissions),
            "predefined": True,
        }
        roles.update_or_create(name=role.name, defaults=values)
