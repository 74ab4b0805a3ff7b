"""What was made with which assets: a link names its asset by kind and id, for any kind there is.

A package that makes things with assets has a table of its own of :class:`AssetLink`. Nothing here
knows them by name: Django does.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Self
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

Reference = tuple[str, str, UUID]  # role, kind, id


class AssetLink(models.Model):
    """``role`` is the kind of pod that has the asset; empty: the whole. A subclass adds a foreign
    key to what was made, its ``HOLDER``, with the related name ``assets``.

    Deleting an asset leaves its links: what something was made with stays true.
    """

    HOLDER: ClassVar[str]
    #: Run:ai's words in REST for what was made, of which it may be one.
    GROUPS: ClassVar[tuple[str, ...]]

    kind = models.CharField(max_length=40)
    asset_id = models.UUIDField()
    role = models.CharField(max_length=20, blank=True)

    class Meta:
        abstract = True

    @classmethod
    def noun(cls) -> str:
        return cls.HOLDER.replace("_", " ")

    @classmethod
    def of(cls, holder: models.Model, references: Iterable[Reference]) -> list[Self]:
        """Rows to create, each once."""
        each = dict.fromkeys(references)
        return [
            cls(**{cls.HOLDER: holder}, role=role, kind=kind, asset_id=pk)
            for role, kind, pk in each
        ]

    @classmethod
    def holders(cls) -> Any:
        """All that was made and is there; a QuerySet with ``visible_to``."""
        holder = cls._meta.get_field(cls.HOLDER).related_model
        assert isinstance(holder, type)  # noqa: S101 -- a foreign key has one
        return holder._default_manager.all()

    @classmethod
    def made_with(cls, kind: str, asset: UUID) -> Any:
        links = cls._default_manager.filter(kind=kind, asset_id=asset)
        return cls.holders().filter(pk__in=links.values(f"{cls.HOLDER}_id"))

    @classmethod
    def entry(cls, holder: Any) -> tuple[str, dict[str, Any]]:
        """The group of one that was made, and what REST says of it there."""
        return cls.GROUPS[0], {"id": str(holder.pk), "name": str(holder)}

    @classmethod
    def counted(cls, kind: str) -> Coalesce:
        """How many were made with each asset of a kind."""
        there = {f"{cls.HOLDER}__in": cls.holders()}
        links = cls._default_manager.filter(kind=kind, asset_id=OuterRef("pk"), **there)
        each = links.order_by().values("asset_id")
        return Coalesce(Subquery(each.annotate(n=Count(cls.HOLDER, distinct=True)).values("n")), 0)


def users_of(kind: str, assets: Iterable[UUID], user: Any) -> dict[UUID, dict[str, list[Any]]]:
    """By asset and group, the entries of what was made with it and the user sees."""
    users: dict[UUID, dict[str, list[Any]]] = {
        pk: {group: [] for table in tables() for group in table.GROUPS} for pk in assets
    }
    for table in tables():
        links = table._default_manager.filter(kind=kind, asset_id__in=users)
        pairs = list(links.order_by("pk").values_list("asset_id", f"{table.HOLDER}_id"))
        visible = table.holders().visible_to(user).in_bulk({pk for _, pk in pairs})
        for asset, pk in dict.fromkeys(pairs):
            if pk in visible:
                group, entry = table.entry(visible[pk])
                users[asset][group].append(entry)
    return users


def used_by(asset: Any) -> str:
    """``3 workloads and 1 template``, of an asset with the counts of :func:`with_counts`."""
    counts = [(getattr(asset, f"used_by_{it.HOLDER}"), it.noun()) for it in tables()]
    words = [f"{n} {noun}{'' if n == 1 else 's'}" for n, noun in counts if n]
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def with_counts(rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
    """Each with how many workloads, templates and so on were made with it."""
    counts: dict[str, Any] = {f"used_by_{it.HOLDER}": it.counted(kind) for it in tables()}
    counted: QuerySet[Any] = rows.annotate(**counts)
    return counted


def tables() -> list[type[AssetLink]]:
    """Every table of links, that of the uppermost package first."""
    return [model for model in apps.get_models() if issubclass(model, AssetLink)][::-1]
