"""The table of kinds of assets, with everything that differs between them."""

from typing import Any

from assets.base import AssetKind
from assets.compute.kind import COMPUTE
from assets.credential.kind import CREDENTIAL
from assets.data_source.kind import DATA_SOURCE
from assets.environment.kind import ENVIRONMENT
from assets.template.kind import TEMPLATE

#: In the order in which they are merged into a pod: if two set the same value, the later wins.
KINDS: dict[str, AssetKind[Any]] = {
    kind.slug: kind for kind in (ENVIRONMENT, COMPUTE, DATA_SOURCE, CREDENTIAL, TEMPLATE)
}
#: The kind whose assets a policy can impose on every pod.
IMPOSED_KIND = DATA_SOURCE


def pod_kinds() -> list[AssetKind[Any]]:
    """The kinds that the wizard asks for per kind of pod."""
    return [kind for kind in KINDS.values() if kind.is_chosen_per_pod]


def listed_kinds() -> list[AssetKind[Any]]:
    """The kinds of which a pod may have several."""
    return [kind for kind in KINDS.values() if kind.list_key]


def kind_named(name: str) -> AssetKind[Any] | None:
    """Return the kind with this slug, or with this key for a list of a pod's values."""
    listed = {kind.list_key: kind for kind in listed_kinds()}
    return KINDS.get(name) or listed.get(name)
