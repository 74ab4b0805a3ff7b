"""The row of data sources in the table of kinds."""

from collections.abc import Iterable, Iterator, Mapping
from uuid import UUID

from assets.base import AssetKind
from assets.credential.model import Credential
from assets.credential.usable import at, fault_of, unfit
from assets.data_source import card
from assets.data_source.form import KINDS, DataSourceForm, blank, initial
from assets.data_source.model import DataSource, DataSourceAsset
from assets.data_source.wire import WIRE
from assets.links import Reference
from clusters.models import Cluster
from projects.scopes import Place
from spec.data import data_source
from spec.data.credential import FETCHED
from spec.problems.errors import Problem

CREDENTIAL = "credential"  # the slug of that kind


def _names(source: DataSource) -> Iterator[Reference]:
    if (credential := source.spec.credential) and credential.asset_id:
        yield "", CREDENTIAL, credential.asset_id


def _lacks(source: DataSource) -> Iterator[Problem]:
    """Yield a problem if its credential cannot be used at its place, or cannot open its address."""
    spec = source.spec
    if spec.credential is None:
        return
    place, path = Place.of(source), (spec.kind.value, CREDENTIAL)
    credential = at(place, spec.credential.asset_id)
    if credential is None:
        name = spec.credential.name or spec.credential.asset_id
        yield Problem(
            path,
            f"the credential {name} cannot be used in {place}; choose another, or another scope",
        )
    elif spec.kind not in FETCHED:
        if credential.spec.is_registry:
            yield Problem(path, f"{credential.name} is only for image pulls; choose another")
    elif problem := unfit(credential, spec.kind, str(spec.item[FETCHED[spec.kind]])):
        yield Problem(path, problem)


def _issues(sources: Iterable[DataSource], cluster: Cluster | None) -> dict[UUID, str]:
    """Return why data sources cannot be used on their clusters, or on ``cluster``, by id."""
    placed = [
        (it, spec, at)
        for it in sources
        if (at := cluster or it.cluster) and (spec := it.readable_spec)
    ]
    named = {spec.credential.asset_id for _, spec, _ in placed if spec.credential}
    credentials = Credential.objects.shared().in_bulk(named) if named else {}
    issues = {it.pk: _issue(it, spec, at, credentials) for it, spec, at in placed}
    return {pk: issue for pk, issue in issues.items() if issue}


def _issue(
    source: DataSource,
    spec: data_source.DataSourceSpec,
    cluster: Cluster,
    credentials: Mapping[UUID, Credential],
) -> str:
    if named := spec.credential:
        credential = credentials.get(named.asset_id) if named.asset_id else None
        if credential is None or fault_of(credential):
            return f"its credential {named.name} is gone, or no longer valid"
        if issue := credential.issue_in(cluster):
            return f"its credential {credential.name} cannot be used: {issue}"
    return next(cluster.definition.storage_complaints(cluster, spec.as_storage), "")


DATA_SOURCE = AssetKind(
    slug="data-source",
    path="data-sources",
    model=DataSource,
    noun="data source",
    title="Data sources",
    lead="Where data is, and where pods find it: a claim, a share, a bucket, a repository.",
    icon="database",
    copy_verb="Make a copy",
    form=DataSourceForm,
    initial=initial,
    blank=blank,
    card=card.draw,
    columns=card.COLUMNS,
    part=data_source.DataSourceSpec,
    fields="assets/data_source_fields.html",
    chip="Type",
    types=KINDS,
    stays_while_used=True,
    wire=WIRE,
    lacks=_lacks,
    issues=_issues,
    names=_names,
    links=DataSourceAsset,
)
