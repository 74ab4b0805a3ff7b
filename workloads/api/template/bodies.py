"""Request bodies about templates. A setup is any part of the setup in a workload's request."""

from typing import Annotated

from ninja import Field

from assets.api.schemas import ReplicaType
from core.rest.api import Pages, Parameters, StrictBody
from core.rest.filters import Filtered, SortParameters
from projects.api.scopes import AssetScope
from workloads.api.bodies import ChosenIn
from workloads.api.words import DistributedDocument, MasterDocument, OnePodDocument

#: Fields of a request that make up the setup, which a template stores.
SETUP = frozenset({"spec", "assets", "master", "master_spec_same_as_worker", "no_master"})
MOST_CLEARED = 200
FieldPath = Annotated[str, Field(min_length=1, max_length=200)]


class TemplateMetaChange(StrictBody):
    """Missing fields do not change."""

    name: str | None = Field(default=None, description="The name")
    description: str | None = Field(default=None, description="A description for people")


class TemplateMetaIn(TemplateMetaChange):
    """``scopeId`` is required, except for the scope ``tenant``."""

    name: str = Field(description="The name")
    scope_type: AssetScope = Field(
        description="Where it belongs; tenant is the account with all clusters"
    )
    scope_id: str | None = Field(
        default=None,
        max_length=64,
        description="The ID of the cluster, department or project; 1 for the scope tenant",
    )


class TemplateMasterIn(StrictBody):
    """The setup of a master that differs from the workers'."""

    spec: MasterDocument = Field(default=None, description="The specification")
    assets: ChosenIn | None = Field(
        default=None,
        description="Assets that all pods use; values in spec override those of the assets",
    )


class OnePodSetupIn(StrictBody):
    """``spec`` is validated field by field. The users of the template fill in the fields that it
    leaves out."""

    spec: OnePodDocument | None = Field(default=None, description="The specification")
    assets: ChosenIn | None = Field(
        default=None,
        description="Assets that all pods use; values in spec override those of the assets",
    )


class DistributedSetupIn(OnePodSetupIn):
    """``noMaster`` is an extension of Trainyard, as in a submission. Without ``master`` the master
    has the workers' setup."""

    spec: DistributedDocument | None = Field(default=None, description="The specification")
    master_spec_same_as_worker: bool | None = Field(
        default=None, description="Whether the master has the workers' setup"
    )
    master: TemplateMasterIn | None = Field(
        default=None,
        description="What differs for the master's pod; null if nothing differs from the workers",
    )
    no_master: bool | None = Field(default=None, description="true for workers only")


class OnePodTemplateIn(OnePodSetupIn):
    meta: TemplateMetaIn = Field(description="Its name and where it belongs")


class DistributedTemplateIn(DistributedSetupIn):
    meta: TemplateMetaIn = Field(description="Its name and where it belongs")


class OnePodTemplateChange(OnePodSetupIn):
    """If any part of the setup is given, it replaces the whole setup."""

    meta: TemplateMetaChange = Field(
        default=TemplateMetaChange(), description="Its name and where it belongs"
    )


class DistributedTemplateChange(DistributedSetupIn):
    """If any part of the setup is given, it replaces the whole setup."""

    meta: TemplateMetaChange = Field(
        default=TemplateMetaChange(), description="Its name and where it belongs"
    )


class OnePodTemplatePatch(OnePodTemplateChange):
    """Given values are merged into the template: objects field by field, others as a whole."""

    fields_to_clear: list[FieldPath] | None = Field(
        default=None,
        max_length=MOST_CLEARED,
        description="Fields about which the template no longer says anything, such as spec.image",
    )


class DistributedTemplatePatch(DistributedTemplateChange):
    """Given values are merged into the template: objects field by field, others as a whole."""

    fields_to_clear: list[FieldPath] | None = Field(
        default=None,
        max_length=MOST_CLEARED,
        description="Fields about which the template no longer says anything, such as spec.image",
    )


class TemplateNarrowing(Filtered):
    pass


class TemplateListing(Pages, SortParameters, TemplateNarrowing):
    comply_to_project: int | None = Field(
        default=None,
        ge=0,
        lt=10**18,
        description="The ID of a project: adds why its workloads cannot use the template",
    )
    comply_to_replica_type: ReplicaType | None = Field(
        default=None,
        description="Only the policies for this kind of pod of a distributed workload",
    )


class WantedTemplateName(Parameters):
    """The scope ``tenant`` has no ``scopeId``."""

    template_name: str = Field(description="The name for a new template")
    scope_type: AssetScope = Field(
        description="Where it belongs; tenant is the account with all clusters"
    )
    scope_id: str | None = Field(
        default=None,
        description="The ID of the cluster, department or project; none for the scope tenant",
    )
