"""Replace ids of assets by names in documents that people read."""

from typing import Any
from uuid import UUID

from accounts.models import User
from assets.base import AssetKind
from assets.kinds import KINDS
from core.web.query import parse_uuid
from spec.draft import WorkloadDraft
from spec.formats import draft_yaml
from spec.formats.draft_yaml import Names
from spec.formats.stored import drop_invalid_parts


def names_for(user: User) -> Names:
    """A translation between names and ids, for names that only one asset visible to the
    user has."""

    def name_of(slug: str, pk: UUID) -> str:
        asset = KINDS[slug].rows.visible_to(user).filter(pk=pk).first() if slug in KINDS else None
        return str(asset.name if asset and id_of(slug, asset.name) == pk else pk)

    def id_of(slug: str, name: str) -> UUID | None:
        if pk := parse_uuid(name):
            return pk
        matches = KINDS[slug].rows.visible_to(user).filter(name=name)[:2] if slug in KINDS else ()
        ids = [row.pk for row in matches]
        return ids[0] if len(ids) == 1 else None

    return Names(name_of, id_of)


def as_yaml(kind: AssetKind[Any], asset: Any, user: User) -> str:
    """An asset's document as YAML; a draft in the wizard's format."""
    if kind.part is not WorkloadDraft or kind.fault_of(asset):
        return kind.as_yaml(asset)
    draft = drop_invalid_parts(WorkloadDraft, getattr(asset, kind.column))
    return draft_yaml.write_draft_yaml(draft, names_for(user))
