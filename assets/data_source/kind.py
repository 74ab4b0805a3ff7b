"""Data sources as a kind of asset."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from accounts.models import User
from assets.base import AssetCard, AssetKind
from assets.credential.model import Credential
from assets.credential.usable import fault_of, find_usable_credential, reason_unfit
from assets.data_source import card
from assets.data_source.datasets import shown, uses
from assets.data_source.form import KINDS, DataSourceForm, blank_values, initial_values
from assets.data_source.model import DataSource, DataSourceAsset
from assets.data_source.wire import WIRE
from assets.links import Reference
from assets.policy_links import PolicyAsset
from clusters.models import Cluster
from projects.scopes import OwningScope, ScopedQuerySet
from spec.data import data_source, places
from spec.data.credential import ADDRESS_FIELDS
from spec.draft import Values
from spec.problems.errors import Problem, problems_in

CREDENTIAL = "credential"  # the slug of that kind
PATH_ADAPTER: TypeAdapter[str] = TypeAdapter(places.MountPath)  # where something can be mounted


class DataSourceAssetKind(AssetKind[DataSource]):
    slug = "data-source"
    path = "data-sources"
    model = DataSource
    part = data_source.DataSourceSpec
    links = DataSourceAsset
    types = KINDS
    stays_while_used = True
    wire = WIRE

    noun = "data source"
    title = "Data sources"
    lead = (
        "Where data is, and where pods find it: a claim, a share, a bucket, a repository, or a "
        "dataset that Trainyard keeps in versions."
    )
    icon = "database"
    type_label = "Type"
    columns = card.COLUMNS

    form = DataSourceForm
    fields = "assets/data_source_fields.html"
    list_key = "dataSources"

    def draw_card(self, asset: DataSource, cluster: Cluster | None) -> AssetCard:
        return card.draw(asset, cluster)

    def panel_of(self, asset: DataSource) -> Values | None:
        panel = shown.versions_panel(asset)
        return {**panel, "template": "assets/datasets/_versions.html"} if panel else None

    def visible_to(self, user: User) -> ScopedQuerySet[DataSource]:
        # Cards of datasets tell their latest version.
        return super().visible_to(user).prefetch_related("versions")

    def blank_values(self) -> Values:
        return blank_values()

    def initial_values(self, asset: DataSource) -> Values:
        return initial_values(asset)

    def problems_when_saved(self, asset: DataSource) -> Iterator[Problem]:
        """Yield a problem if its credential cannot be used at its scope, or cannot open its
        address, or if a policy imposes it on people who may not use the credential."""
        spec = asset.spec
        if spec.credential is None:
            return
        scope = OwningScope.from_asset(asset)
        path = (spec.kind.value, CREDENTIAL)
        for policy in PolicyAsset.holders_of_asset(self.slug, asset.pk).widest_first():
            yield Problem(
                path,
                f"cannot be given: {policy.source.label} imposes this data source, and not "
                "everyone may use a credential",
                source=policy.source.label,
            )
        credential = find_usable_credential(scope, spec.credential.asset_id)
        if credential is None:
            name = spec.credential.name or spec.credential.asset_id
            yield Problem(
                path,
                f"the credential {name} cannot be used in {scope}; choose another, or another "
                "scope",
            )
        elif spec.kind not in ADDRESS_FIELDS:
            if credential.spec.is_registry:
                yield Problem(path, f"{credential.name} is only for image pulls; choose another")
        elif problem := reason_unfit(
            credential, spec.kind, str(spec.item[ADDRESS_FIELDS[spec.kind]])
        ):
            yield Problem(path, problem)

    def issues(self, assets: Iterable[DataSource], cluster: Cluster | None) -> dict[UUID, str]:
        sources_with_clusters = [
            (source, spec, home)
            for source in assets
            if (home := cluster or source.cluster) and (spec := source.readable_spec)
        ]
        credential_ids = {
            spec.credential.asset_id for _, spec, _ in sources_with_clusters if spec.credential
        }
        credentials = Credential.objects.shared().in_bulk(credential_ids) if credential_ids else {}
        issues = {
            source.pk: _issue(source, spec, home, credentials)
            for source, spec, home in sources_with_clusters
        }
        return {pk: issue for pk, issue in issues.items() if issue}

    def list_layer(self, chosen: Sequence[tuple[DataSource, Values]]) -> Values:
        storage: dict[str, list[Values]] = {}
        for source, item in chosen:
            volume = _volume(source, item)
            if volume:
                key, part = volume
                storage.setdefault(key, []).append(part)
        return {"storage": storage}

    def item_problems(
        self, asset: DataSource, item: Values, cluster: Cluster | None
    ) -> Iterator[Problem]:
        """Yield a problem if nothing can be mounted at the path, or if the version of a dataset
        cannot be mounted."""
        try:
            PATH_ADAPTER.validate_python(item.get("path") or asset.spec.path)
        except ValidationError as error:
            yield Problem(("path",), problems_in(error)[0].message)
        field, message = uses.why_unfit(asset, _version_number(item), cluster)
        if message:
            yield Problem((field,), message)

    def item_links(self, asset: DataSource, item: Values) -> Iterator[tuple[str, UUID]]:
        """Yield the data source, and the version of a dataset."""
        yield from super().item_links(asset, item)
        if uses.is_dataset(asset):
            version = uses.find_version(asset, _version_number(item))
            if version:
                yield uses.VERSION, version.pk

    def option_label(self, asset: DataSource) -> str:
        """Return the option as people read it: ``imagenet (NFS at /data)``."""
        if self.fault_of(asset):
            return f"{asset.name} (no longer valid)"
        return f"{asset.name} ({dict(KINDS)[asset.spec.kind.value]} at {asset.spec.path})"

    def references(self, asset: DataSource) -> Iterator[Reference]:
        credential = asset.spec.credential
        if credential and credential.asset_id:
            yield "", CREDENTIAL, credential.asset_id


def _version_number(item: Values) -> str:
    return str(item.get("version") or "").strip()


def _volume(source: DataSource, item: Values) -> tuple[str, Values] | None:
    """Return the list of a pod's ``storage`` and the item there that mounts a source; ``None`` for
    a dataset without such a version."""
    path = str(item.get("path") or "")
    if uses.is_dataset(source):
        return uses.volume_of(source, _version_number(item), path or source.spec.path)
    return source.storage(path)


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
    _, unfit = uses.why_unfit(source, "", cluster)
    if unfit:
        return unfit.partition(";")[0]
    if cluster.outage:
        return f"the cluster {cluster} is disconnected"
    missing = _missing_claim(source, spec, cluster)
    if missing:
        return f"the project's namespace has no claim {missing}"
    return next(cluster.definition.storage_complaints(cluster, spec.as_storage), "")


def _missing_claim(
    source: DataSource, spec: data_source.DataSourceSpec, cluster: Cluster
) -> str | None:
    """Return the name of a claim that a project's data source names and its namespace lacks. In
    other scopes each project has claims of its own."""
    if not source.project:
        return None
    for claim in spec.as_storage.pvc:
        claims = cluster.definition.claims(cluster, source.project.name)
        if claim.existing_pvc and claims is not None:
            names = {it.name for it in claims}
            return None if claim.claim_name in names else claim.claim_name
    return None


DATA_SOURCE = DataSourceAssetKind()
