"""The kinds of assets in one table: what differs between them, and nothing that does not."""

from typing import Any

from assets.base import AssetKind
from assets.compute.kind import COMPUTE
from assets.credential.kind import CREDENTIAL
from assets.data_source.kind import DATA_SOURCE
from assets.environment.kind import ENVIRONMENT
from assets.template.kind import TEMPLATE

#: In the order in which a pod takes from them: of two that give the same, the later wins.
KINDS: dict[str, AssetKind[Any]] = {
    kind.slug: kind for kind in (ENVIRONMENT, COMPUTE, DATA_SOURCE, CREDENTIAL, TEMPLATE)
}


def for_each_pod() -> list[AssetKind[Any]]:
    """Those that the wizard asks for once for each kind of pod."""
    return [kind for kind in KINDS.values() if kind.for_each_pod]
