"""Cards of many assets at once, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from accounts.models import User
from assets.base import A, AssetCard, AssetKind, Fact
from assets.compliance import find_unadmitted
from assets.kinds import KINDS
from clusters.models import Cluster
from core.forms.words import field_sentence

UNUSABLE = ("Cannot be used here", "warning")
NOT_VALID = ("No longer valid", "danger")
#: Chips of assets that cannot be used; they say nothing else about the asset.
UNUSABLE_CHIPS = {UNUSABLE, NOT_VALID}


def asset_cards(
    kind: AssetKind[A],
    assets: Sequence[A],
    cluster: Cluster | None = None,
    *,
    viewer: User | None = None,
) -> list[AssetCard]:
    """Cards of assets of one kind, judged for ``cluster`` or for each asset where it belongs, with
    the names of assets they refer to. With a ``viewer``, policies judge them, too: an asset that
    none of the viewer's projects may use says so."""
    linked_facts = _linked_facts(kind, assets)
    unadmitted = find_unadmitted(kind, assets, viewer) if viewer else {}
    issues = {**unadmitted, **kind.issues(assets, cluster)}
    own_cards = [(asset.pk, _draw_card(kind, asset, cluster or asset.cluster)) for asset in assets]
    cards = [(pk, replace(card, facts=[*card.facts, *linked_facts[pk]])) for pk, card in own_cards]
    return [_with_issue(card, issues.get(pk, "")) for pk, card in cards]


def _with_issue(card: AssetCard, issue: str) -> AssetCard:
    if card.why_not or not issue:
        return card
    why_not = field_sentence(issue)
    facts = [*card.facts, ("alert-triangle", "Issue", why_not)]
    return AssetCard(facts, [*card.chips, UNUSABLE], why_not)


def _draw_card(kind: AssetKind[A], asset: A, cluster: Cluster | None) -> AssetCard:
    if fault := kind.fault_of(asset):
        why_not = field_sentence(fault)
        return AssetCard([("alert-triangle", NOT_VALID[0], why_not)], [NOT_VALID], why_not)
    return kind.draw_card(asset, cluster)


def _linked_facts(kind: AssetKind[A], assets: Sequence[A]) -> dict[UUID, list[Fact]]:
    facts: dict[UUID, list[Fact]] = defaultdict(list)
    if kind.links is None:
        return facts
    holder = f"{kind.links.HOLDER}_id"
    links: Any = kind.links._default_manager.filter(**{f"{holder}__in": [it.pk for it in assets]})
    pairs = sorted(set(links.values_list(holder, "kind", "asset_id")))
    for slug, linked_kind in KINDS.items():
        asset_pairs = [(pk, asset) for pk, name, asset in pairs if name == slug]
        names = dict(
            linked_kind.rows.filter(pk__in=[it for _, it in asset_pairs]).values_list("pk", "name")
        )
        for pk, asset in asset_pairs:
            if asset in names:
                facts[pk].append((linked_kind.icon, linked_kind.label, names[asset]))
    return facts
