"""Record what was made with which assets. A link has the kind and the id of one asset.

A package that makes things from assets has its own table, a subclass of :class:`AssetLink`. This
module finds the tables through Django and does not import them.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Self
from uuid import UUID

from django.apps import apps
from django.db import models
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce

from core.words import count_nouns
from spec.workload import LONGEST_ROLE_NAME

Reference = tuple[str, str, UUID]  # role, kind, id


class AssetLink(models.Model):
    """A link from a ``HOLDER``, such as a workload, to an asset that it was made with.

    ``role`` is the kind of pod that uses the asset, or empty for the entire workload. A subclass
    adds a foreign key to its ``HOLDER`` with the related name ``assets``. Deleting an asset keeps
    its links, because what something was made with stays true.
    """

    HOLDER: ClassVar[str]
    #: Run:ai's names for the holders in REST.
    GROUPS: ClassVar[tuple[str, ...]]

    kind = models.CharField(max_length=40)
    asset_id = models.UUIDField()
    role = models.CharField(max_length=LONGEST_ROLE_NAME, blank=True)

    class Meta:
        abstract = True

    @classmethod
    def noun(cls) -> str:
        return cls.HOLDER.replace("_", " ")

    @classmethod
    def build_links(cls, holder: models.Model, references: Iterable[Reference]) -> list[Self]:
        """Return unsaved links from a holder, without duplicates."""
        unique_references = dict.fromkeys(references)
        return [
            cls(**{cls.HOLDER: holder}, role=role, kind=kind, asset_id=pk)
            for role, kind, pk in unique_references
        ]

    @classmethod
    def holders(cls) -> Any:
        """Return all existing holders, as a QuerySet with ``visible_to``."""
        holder = cls._meta.get_field(cls.HOLDER).related_model
        assert isinstance(holder, type)  # noqa: S101 -- foreign keys have a model
        return holder._default_manager.all()

    @classmethod
    def holders_of_asset(cls, kind: str, asset: UUID) -> Any:
        links = cls._default_manager.filter(kind=kind, asset_id=asset)
        return cls.holders().filter(pk__in=links.values(f"{cls.HOLDER}_id"))

    @classmethod
    def rest_entry(cls, holder: Any) -> tuple[str, dict[str, Any]]:
        """Return the group in which REST lists a holder, and its entry there."""
        return cls.GROUPS[0], {"id": str(holder.pk), "name": str(holder)}

    @classmethod
    def holder_count(cls, kind: str) -> Coalesce:
        """Return an expression that counts the holders of each asset of a kind."""
        existing_holders = {f"{cls.HOLDER}__in": cls.holders()}
        links = cls._default_manager.filter(kind=kind, asset_id=OuterRef("pk"), **existing_holders)
        links_by_asset = links.order_by().values("asset_id")
        return Coalesce(
            Subquery(links_by_asset.annotate(n=Count(cls.HOLDER, distinct=True)).values("n")), 0
        )


def holder_entries(
    kind: str, assets: Iterable[UUID], user: Any
) -> dict[UUID, dict[str, list[Any]]]:
    """Return the entries of holders that ``user`` may see, by asset and group."""
    entries: dict[UUID, dict[str, list[Any]]] = {
        pk: {group: [] for table in link_tables() for group in table.GROUPS} for pk in assets
    }
    for table in link_tables():
        links = table._default_manager.filter(kind=kind, asset_id__in=entries)
        pairs = list(links.order_by("pk").values_list("asset_id", f"{table.HOLDER}_id"))
        visible_holders = table.holders().visible_to(user).in_bulk({pk for _, pk in pairs})
        for asset, pk in dict.fromkeys(pairs):
            if pk in visible_holders:
                group, entry = table.rest_entry(visible_holders[pk])
                entries[asset][group].append(entry)
    return entries


def usage_text(asset: Any) -> str:
    """Return what uses an asset, such as ``3 workloads and 1 template``. The asset must come from
    :func:`with_usage_counts`."""
    return count_nouns((getattr(asset, f"used_by_{it.HOLDER}"), it.noun()) for it in link_tables())


def with_usage_counts(rows: QuerySet[Any], kind: str) -> QuerySet[Any]:
    """Annotate assets with the numbers of workloads, templates and so on that use them."""
    counts: dict[str, Any] = {f"used_by_{it.HOLDER}": it.holder_count(kind) for it in link_tables()}
    counted: QuerySet[Any] = rows.annotate(**counts)
    return counted


def link_tables() -> list[type[AssetLink]]:
    """Return all tables of links. The table of the uppermost package is first."""
    return [model for model in apps.get_models() if issubclass(model, AssetLink)][::-1]
