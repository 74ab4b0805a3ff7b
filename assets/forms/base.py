"""The base of the forms of all assets: cluster, scope, name and description."""

from collections.abc import Collection
from typing import Any

from django.http import QueryDict

from accounts.models import User
from assets.asset import Asset
from clusters.models import Cluster
from core.forms.field import Field, Input, Values
from core.forms.form import Form
from core.forms.items import Offered
from projects.scopes import EVERY_CLUSTER, OwningScope, scope_options, scopes_open_to
from spec.problems.errors import SpecError

SHARED_FIELDS = (
    Field("cluster", "Cluster", Input.SELECT, choices="clusters"),
    Field(
        "scope",
        "Scope",
        Input.SELECT,
        "Who can see and use it.",
        choices="scopes",
    ),
    Field("name", "Name", required=True),
    Field("description", "Description"),
)


class AssetForm(Form):
    """A form with cluster, scope, name and description, then the ``FIELDS`` of a kind. Fields whose
    keys are in ``OUTSIDE_DOCUMENT`` are not part of the document."""

    MODEL: type[Asset]
    FIELDS: tuple[Field, ...] = ()
    OUTSIDE_DOCUMENT: tuple[str, ...] = ()

    def __init__(
        self,
        posted: QueryDict | None,
        *,
        user: User,
        scope: OwningScope | None,
        initial: Values,
        fixed: Collection[str] = (),
    ) -> None:
        self.scopes = self.creatable_scopes(user)
        shared_scopes = [it for it in self.scopes.values() if not it.owner] or self.scopes.values()
        clusters = {it.cluster_key: str(it.cluster or EVERY_CLUSTER) for it in shared_scopes}
        cluster_key = str(initial.get("cluster") or "") if len(clusters) > 1 else ""
        groups = scope_options(self.scopes, cluster_key)
        options = {
            "clusters": list(clusters.items()),
            "scopes": [option for _, options in groups for option in options],
            **self.field_options(user, scope if "scope" in fixed else None),
        }
        if scope is not None:
            initial = initial | {"cluster": scope.cluster_key, "scope": scope.key}
        fields = (*SHARED_FIELDS, *self.FIELDS)
        super().__init__(fields, initial, posted, offered=options, fixed=fixed)
        self["scope"].groups = groups
        if self.is_bound:
            self.check()

    def creatable_scopes(self, user: User) -> dict[str, OwningScope]:
        """Return the scopes where the user may create an asset, by the value of the scope field."""
        return scopes_open_to(user, self.MODEL.permission("create"))

    def field_options(self, user: User, scope: OwningScope | None) -> Offered:
        """Return the options of the form's own fields. ``scope`` is that of the asset, or ``None``
        while it can still be chosen."""
        return {}

    def check(self) -> None:
        """Add errors for values that a browser with our scripts would not send."""
        scope = self.scopes.get(self.values.get("scope", ""))
        cluster = self.values.get("cluster")
        if scope is None or scope.owner or not cluster or scope.cluster_key == cluster:
            return
        if scope.cluster:
            self.add_error("scope", f"{scope.holder} belongs to the cluster {scope.cluster}.")
        else:
            self.add_error(
                "cluster",
                f"The account spans all clusters: choose {EVERY_CLUSTER}, or another scope.",
            )

    @property
    def clusters(self) -> list[Cluster]:
        """The clusters to which the asset may belong."""
        clusters = {it.cluster.pk: it.cluster for it in self.scopes.values() if it.cluster}
        return list(clusters.values())

    @property
    def scope(self) -> OwningScope:
        return self.scopes[self.values["scope"]]

    @property
    def name(self) -> str:
        return str(self.values.get("name", ""))

    @property
    def description(self) -> str:
        return str(self.values.get("description", ""))

    def document(self, *, without: Collection[str] = ()) -> Values:
        """Return the asset's values under their wire names."""
        shared_keys = [field.key for field in SHARED_FIELDS]
        return super().document(without=(*shared_keys, *self.OUTSIDE_DOCUMENT, *without))

    def columns(self) -> dict[str, Any]:
        """Return the values that are stored in columns, not in the document."""
        return {}

    def add_verdict(self, error: SpecError) -> None:
        self.add_problems((problem.path, problem.message) for problem in error.problems)
