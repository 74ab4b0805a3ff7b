"""The links of policies to the assets that they impose, or name in their defaults."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from django.db import models

from assets.links import AssetLink, Reference
from policies.fields import role_and_name
from policies.models import Policy
from policies.rules import Enforcement, Rule, split_item
from spec.formats.stored import as_mapping

DATA_SOURCE = "data-source"  # slugs of kinds
CREDENTIAL = "credential"


class PolicyAsset(AssetLink):
    """An asset that a policy imposes or names."""

    HOLDER = "policy"
    GROUPS = ("policies",)

    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="assets")

    class Meta:
        indexes = [models.Index(fields=["kind", "asset_id"], name="policy_asset")]
        constraints = [
            models.UniqueConstraint(
                fields=["policy", "role", "kind", "asset_id"], name="policy_asset_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.asset_id}"


def find_references(rules: Iterable[Rule]) -> Iterator[Reference]:
    """Yield the assets that rules name by their IDs: the data sources that they impose, and the
    credentials of default items."""
    for rule in rules:
        role, name = role_and_name(rule.field)
        if rule.enforcement is Enforcement.IMPOSED:
            named = [(DATA_SOURCE, split_item(name)[1])]
        elif rule.enforcement is Enforcement.DEFAULT:
            item = as_mapping(rule.value)
            credential = as_mapping(item.get("credential"))
            named = [(CREDENTIAL, item.get("assetId")), (CREDENTIAL, credential.get("assetId"))]
        else:
            named = []
        for kind, text in named:
            if pk := _parse_id(text):
                yield role, kind, pk


def _parse_id(text: object) -> UUID | None:
    try:
        return UUID(str(text))
    except ValueError:
        return None
