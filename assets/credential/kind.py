"""Credentials as a kind of asset."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from assets.base import AssetCard, AssetKind
from assets.credential import card
from assets.credential.form import KINDS, VALUES, CredentialForm, blank_values, initial_values
from assets.credential.model import Credential, SecretValue
from assets.credential.wire import WIRE
from clusters.models import Cluster
from spec.data.credential import CredentialSpec
from spec.draft import Values
from spec.problems.errors import Problem


class CredentialAssetKind(AssetKind[Credential]):
    slug = "credential"
    path = "credentials"
    model = Credential
    part = CredentialSpec
    types = KINDS
    may_be_personal = True
    stays_while_used = True
    wire = WIRE

    noun = "credential"
    title = "Credentials"
    lead = "Passwords, keys and tokens that workloads use and nobody reads."
    icon = "key"
    type_label = "Type"
    columns = card.COLUMNS
    after_a_change = "A workload takes the values that are there when it starts or is run again."

    form = CredentialForm
    fields = "assets/credential_fields.html"

    def draw_card(self, asset: Credential, cluster: Cluster | None) -> AssetCard:
        return card.draw(asset, cluster)

    def blank_values(self) -> Values:
        return blank_values()

    def initial_values(self, asset: Credential) -> Values:
        return initial_values(asset)

    def problems_when_saved(self, asset: Credential) -> Iterator[Problem]:
        """Yield a problem for each key without a value, entered now or before."""
        spec = asset.spec
        if spec.existing_secret:
            return
        stored = SecretValue.objects.filter(credential_id=asset.pk).values_list("key", flat=True)
        known = {*asset.entered, *stored}
        for key in spec.names:
            if key not in known:
                yield Problem((VALUES, key), "is required")

    def issues(self, assets: Iterable[Credential], cluster: Cluster | None) -> dict[UUID, str]:
        issues: dict[UUID, str] = {}
        for credential in assets:
            home = cluster or credential.cluster
            if home is None or self.fault_of(credential):
                continue
            if issue := credential.issue_in(home):
                issues[credential.pk] = issue
        return issues


CREDENTIAL = CredentialAssetKind()
