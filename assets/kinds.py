"""The three galleries in one table: what differs between them, and nothing that does not."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.urls import reverse

from accounts.models import User
from assets import cards, services
from assets.cards import Card
from assets.forms import compute, environment, template
from assets.forms.base import AssetForm
from assets.models import ComputeResource, Environment, Template
from assets.scopes import ScopedQuerySet
from assets.services import AnyAsset
from spec import documents


@dataclass(frozen=True)
class Kind:
    """``slug`` starts the names of the routes; the verbs are Run:ai's words."""

    slug: str
    model: type[Any]
    noun: str
    title: str
    lead: str
    icon: str
    edit_verb: str
    copy_verb: str
    card: Callable[[Any], Card]
    form: type[AssetForm]
    initial: Callable[[Any], dict[str, Any]]
    fields: str
    blank: Callable[[], dict[str, Any]] = dict
    create: Callable[..., AnyAsset] | None = None

    def address(self, page: str, *args: Any) -> str:
        return reverse(f"{self.slug}-{page}", args=args)

    def visible_to(self, user: User) -> ScopedQuerySet[Any]:
        """With what a card shows, in a fixed number of queries."""
        rows: ScopedQuerySet[Any] = self.model.objects.visible_to(user).select_related(
            "cluster", "department", "project", "created_by"
        )
        present = Count("workloads", filter=Q(workloads__deleted_at=None), distinct=True)
        rows = rows.annotate(used_by=present)
        if self.model is Template:
            return rows.prefetch_related("environments", "compute_resources")
        return rows


ENVIRONMENT = Kind(
    slug="environment",
    model=Environment,
    noun="environment",
    title="Environments",
    lead="An image with its command, variables, tools and rights, ready to choose in a workload.",
    icon="box",
    edit_verb="Edit",
    copy_verb="Make a copy",
    card=cards.environment,
    form=environment.EnvironmentForm,
    initial=environment.initial,
    fields="assets/environment_fields.html",
    create=services.create_environment,
)
COMPUTE = Kind(
    slug="compute",
    model=ComputeResource,
    noun="compute resource",
    title="Compute resources",
    lead="What each pod asks of its node: GPUs or parts of one, CPU and memory.",
    icon="cpu",
    edit_verb="Edit",
    copy_verb="Copy & edit",
    card=cards.compute_at_home,
    form=compute.ComputeForm,
    initial=compute.initial,
    blank=compute.blank,
    fields="assets/compute_fields.html",
    create=services.create_compute,
)
TEMPLATE = Kind(
    slug="template",
    model=Template,
    noun="template",
    title="Templates",
    lead="Workloads to start from: every choice of the form, kept under a name.",
    icon="template",
    edit_verb="Rename",
    copy_verb="Make a copy",
    card=cards.template,
    form=template.TemplateForm,
    initial=template.initial,
    fields="",
)
KINDS = (ENVIRONMENT, COMPUTE, TEMPLATE)


def yaml_of(asset: AnyAsset) -> str:
    """What an asset holds, without what was left at its default."""
    if isinstance(asset, Template):
        return documents.to_yaml(
            asset.draft.model_dump(mode="json", by_alias=True, exclude_defaults=True)
        )
    return documents.to_yaml(asset.spec_json)
