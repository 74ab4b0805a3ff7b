"""Environments as a kind of asset."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from assets.base import AssetCard, AssetKind, Fact, Panel
from assets.environment import card
from assets.environment.form import EnvironmentForm, initial_values
from assets.environment.model import Environment
from assets.environment.wire import WIRE
from assets.refusals import find_refused
from clusters.models import Cluster
from spec.draft import Values
from spec.formats.merge import EMPTY
from spec.kind import KindTraits
from spec.parts import environment
from spec.problems.errors import Problem

ID_FIELDS = ("runAsUid", "runAsGid", "supplementalGroups")
#: Fields of a pod that stay when an environment is chosen. It replaces all others by its own.
KEPT_FIELDS = {"command", "args", "workingDir", "environmentVariables", "probes"}


#: Fields that workloads on other clusters than Kubernetes cannot override.
NOT_OVERRIDABLE = frozenset({"probes", "security", "stdin", "tty"})


class EnvironmentAssetKind(AssetKind[Environment]):
    slug = "environment"
    path = "environments"
    model = Environment
    part = environment.Environment
    wire = WIRE

    noun = "environment"
    title = "Environments"
    lead = (
        "An image with its command, variables, tools and permissions, ready to use in a workload."
    )
    icon = "box"
    columns = card.COLUMNS

    form = EnvironmentForm
    fields = "assets/environment_fields.html"

    panel = Panel.START
    choice_lead = "The image and how to start it."
    replaced_keys = frozenset(
        field.alias or name
        for name, field in environment.Environment.model_fields.items()
        if field.alias not in KEPT_FIELDS
    )

    def draw_card(self, asset: Environment, cluster: Cluster | None) -> AssetCard:
        return card.draw(asset, cluster)

    def initial_values(self, asset: Environment) -> Values:
        return initial_values(asset)

    def issues(self, assets: Iterable[Environment], cluster: Cluster | None) -> dict[UUID, str]:
        layers = ((asset, self.layer(asset)) for asset in assets)
        return find_refused(layers, NOT_OVERRIDABLE, cluster)

    def layer(self, asset: Environment) -> Values:
        values: Values = asset.spec_json
        return values

    def copied_facts(self, values: Values) -> list[Fact]:
        return card.copied_facts(values)

    def complaints(self, asset: Environment, own_values: Values) -> Iterator[Problem]:
        """Yield problems for user and group ids of the pod, unless the environment allows them."""
        if asset.allows_own_ids:
            return
        security = own_values.get("security")
        for key in ID_FIELDS:
            if isinstance(security, dict) and security.get(key) not in EMPTY:
                message = f"is set by the environment {asset.name}; leave it empty"
                yield Problem(("security", key), message)

    def why_unfit(self, asset: Environment, framework: str) -> str:
        return asset.unfit_for(framework)

    def distance(self, asset: Environment, traits: KindTraits, framework: str) -> int:
        return asset.distance(traits, framework)


ENVIRONMENT = EnvironmentAssetKind()
