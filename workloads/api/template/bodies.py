"""Request bodies about templates. A setup is any part of the setup in a workload's request."""

from typing import Annotated

from ninja import Field

from assets.api.schemas import AssetScope
from core.rest.api import Closed, Pages, Parameters
from core.rest.filters import Filtered, Sorted
from workloads.api.bodies import ChosenIn
from workloads.api.words import DistributedDocument, MasterDocument, OnePodDocument

#: Fields of a request that make up the setup, which a template stores.
SETUP = frozenset({"spec", "assets", "master", "master_spec_same_as_worker", "no_master"})
MOST_CLEARED = 200
FieldPath = Annotated[str, Field(min_length=1, max_length=200)]


class TemplateMetaChange(Closed):
    """Missing fields do not change."""

    name: str | None = None
    description: str | None = None


class TemplateMetaIn(TemplateMetaChange):
    """``scopeId`` is required, except for the scope ``tenant``."""

    name: str
    scope_type: AssetScope
    scope_id: str | None = Field(None, max_length=64)


class TemplateMasterIn(Closed):
    """The setup of a master that differs from the workers'."""

    spec: MasterDocument = None
    assets: ChosenIn | None = None


class OnePodSetupIn(Closed):
    """``spec`` is validated field by field. Fields that it leaves out are filled in by whoever uses
    the template."""

    spec: OnePodDocument | None = None
    assets: ChosenIn | None = None


class DistributedSetupIn(OnePodSetupIn):
    """``noMaster`` is an extension of Trainyard, as in a submission. Without ``master`` the master
    has the workers' setup."""

    spec: DistributedDocument | None = None
    master_spec_same_as_worker: bool | None = None
    master: TemplateMasterIn | None = None
    no_master: bool | None = None


class OnePodTemplateIn(OnePodSetupIn):
    meta: TemplateMetaIn


class DistributedTemplateIn(DistributedSetupIn):
    meta: TemplateMetaIn


class OnePodTemplateChange(OnePodSetupIn):
    """If any part of the setup is given, it replaces the whole setup."""

    meta: TemplateMetaChange = TemplateMetaChange()


class DistributedTemplateChange(DistributedSetupIn):
    """If any part of the setup is given, it replaces the whole setup."""

    meta: TemplateMetaChange = TemplateMetaChange()


class OnePodTemplatePatch(OnePodTemplateChange):
    """Given values are merged into the template: objects field by field, others as a whole."""

    fields_to_clear: list[FieldPath] | None = Field(None, max_length=MOST_CLEARED)


class DistributedTemplatePatch(DistributedTemplateChange):
    """Given values are merged into the template: objects field by field, others as a whole."""

    fields_to_clear: list[FieldPath] | None = Field(None, max_length=MOST_CLEARED)


class TemplateNarrowing(Filtered):
    pass


class TemplateListing(Pages, Sorted, TemplateNarrowing):
    comply_to_project: int | None = Field(None, ge=0, lt=10**18)


class WantedTemplateName(Parameters):
    """The scope ``tenant`` has no ``scopeId``."""

    template_name: str
    scope_type: AssetScope
    scope_id: str | None = None
