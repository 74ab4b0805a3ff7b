"""The base of all assets' forms: scope, name, and showing the spec's problems."""

from collections.abc import Collection
from typing import Any

from django.http import QueryDict

from accounts import access
from accounts.models import User
from clusters.models import Cluster
from core.forms.field import Field, Input, Option, Values
from core.forms.form import Form
from core.forms.items import Offered
from projects.models import Department, Project
from projects.scopes import Holder, Place, Scope
from spec.problems.errors import SpecError

WHERE = (
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

EVERY = "All clusters"
ME = "me"  # the scope of one's own assets


class AssetForm(Form):
    """Cluster, scope, name and description, then the ``FIELDS`` of a kind. Keys in ``BESIDE`` are
    not part of the document."""

    FIELDS: tuple[Field, ...] = ()
    BESIDE: tuple[str, ...] = ()

    def __init__(
        self,
        posted: QueryDict | None,
        *,
        user: User,
        place: Place | None,
        initial: Values,
        fixed: Collection[str] = (),
    ) -> None:
        self.places = self.places_for(user)
        shared = [it for it in self.places.values() if not it.owner] or self.places.values()
        clusters = {cluster_key(it): str(it.cluster or EVERY) for it in shared}
        asked = str(initial.get("cluster") or "") if len(clusters) > 1 else ""
        groups = grouped(self.places, asked)
        offered = {
            "clusters": list(clusters.items()),
            "scopes": [option for _, options in groups for option in options],
            **self.offers(user, place if "scope" in fixed else None),
        }
        if place is not None:
            initial = initial | {"cluster": cluster_key(place), "scope": key(place)}
        fields = (*WHERE, *self.FIELDS)
        super().__init__(fields, initial, posted, offered=offered, fixed=fixed)
        self["scope"].groups = groups
        if self.is_bound:
            self.check()

    def places_for(self, user: User) -> dict[str, Place]:
        """Places where the user may create one, by the value of the scope field."""
        return places_of(user)

    def offers(self, user: User, place: Place | None) -> Offered:
        """Options of the form's own fields; ``place`` is the asset's, once that is decided."""
        return {}

    def check(self) -> None:
        """Check what a browser with our scripts would not send."""
        place, cluster = self.places.get(self.values.get("scope", "")), self.values.get("cluster")
        if place is None or place.owner or not cluster or cluster_key(place) == cluster:
            return
        if place.cluster:
            self.add_error("scope", f"{place.holder} belongs to the cluster {place.cluster}.")
        else:
            self.add_error(
                "cluster", f"The account spans all clusters: choose {EVERY}, or another scope."
            )

    @property
    def clusters(self) -> list[Cluster]:
        """Clusters to which the asset may belong."""
        each = {it.cluster.pk: it.cluster for it in self.places.values() if it.cluster}
        return list(each.values())

    @property
    def place(self) -> Place:
        return self.places[self.values["scope"]]

    @property
    def name(self) -> str:
        return str(self.values.get("name", ""))

    @property
    def description(self) -> str:
        return str(self.values.get("description", ""))

    def document(self, *, without: Collection[str] = ()) -> Values:
        """The asset's values under their wire names."""
        where = [field.key for field in WHERE]
        return super().document(without=(*where, *self.BESIDE, *without))

    def columns(self) -> dict[str, Any]:
        """Values stored in columns, not in the document."""
        return {}

    def add_verdict(self, error: SpecError) -> None:
        self.add_problems((problem.path, problem.message) for problem in error.problems)


def key(place: Place) -> str:
    if place.owner:
        return ME
    return f"{place.scope}:{place.holder.pk}" if place.holder else place.scope.value


def cluster_key(place: Place) -> str:
    return str(place.cluster.pk) if place.cluster else place.scope.value


def places_of(user: User, action: str = "assets.create") -> dict[str, Place]:
    """Where this user may create assets, by the value of the scope field."""
    projects = Project.objects.open_to(user, action).for_list()
    everywhere = access.may(user, action)
    holders: list[Holder | None] = []
    if everywhere:
        holders += Cluster.objects.all()
        holders += Department.objects.select_related("cluster")
    holders += [*projects, *([None] if everywhere else [])]
    return {key(place): place for place in map(Place, holders)}


def grouped(places: dict[str, Place], cluster: str) -> list[tuple[str, list[Option]]]:
    """Options grouped by scope, limited to a cluster if it is known."""
    groups: dict[str, list[Option]] = {}
    clusters = {place.cluster.pk for place in places.values() if place.cluster}
    several = len(clusters) > 1 and not cluster
    for value, place in places.items():
        if cluster and not place.owner and cluster_key(place) != cluster:
            continue
        label = str(place) if place.owner else Scope(place.scope).label
        heading = f"{place.cluster} · {label}" if several and place.cluster else label
        groups.setdefault(heading, []).append((value, str(place)))
    return list(groups.items())
