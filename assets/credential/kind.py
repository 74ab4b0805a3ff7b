"""The row of credentials in the table of kinds."""

from collections.abc import Iterable, Iterator
from uuid import UUID

from assets.base import AssetKind
from assets.credential import card
from assets.credential.form import KINDS, VALUES, CredentialForm, blank, initial
from assets.credential.model import Credential, SecretValue
from assets.credential.wire import WIRE
from clusters.models import Cluster
from spec.data.credential import CredentialSpec
from spec.problems.errors import Problem


def _issues(credentials: Iterable[Credential], cluster: Cluster | None) -> dict[UUID, str]:
    where = ((it, cluster or it.cluster) for it in credentials if not CREDENTIAL.fault_of(it))
    return {it.pk: issue for it, at in where if at and (issue := it.issue_in(at))}


def _lacks(credential: Credential) -> Iterator[Problem]:
    """Yield a problem for each key without a value, entered now or before."""
    spec = credential.spec
    if spec.existing_secret:
        return
    kept = SecretValue.objects.filter(credential_id=credential.pk).values_list("key", flat=True)
    there = {*credential.entered, *kept}
    for key in spec.names:
        if key not in there:
            yield Problem((VALUES, key), "is required")


CREDENTIAL = AssetKind(
    slug="credential",
    path="credentials",
    model=Credential,
    noun="credential",
    title="Credentials",
    lead="Passwords, keys and tokens that workloads use and nobody reads.",
    icon="key",
    copy_verb="Make a copy",
    form=CredentialForm,
    initial=initial,
    blank=blank,
    card=card.draw,
    columns=card.COLUMNS,
    part=CredentialSpec,
    fields="assets/credential_fields.html",
    chip="Type",
    types=KINDS,
    after_a_change="A workload takes the values that are there when it starts or is run again.",
    stays_while_used=True,
    lacks=_lacks,
    issues=_issues,
    wire=WIRE,
    personal=True,
)
