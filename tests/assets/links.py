"""Creates links to assets, as submitting a workload or saving a template does."""

from django.db import models

from assets.asset import Asset
from assets.kinds import KINDS
from assets.template.model import Template, TemplateAsset
from workloads.models import Workload, WorkloadAsset


def named(holder: Template | Workload, asset: Asset, role: str = "worker") -> None:
    """Give a template or workload an asset."""
    kind = next(kind.slug for kind in KINDS.values() if isinstance(asset, kind.model))
    table = TemplateAsset if isinstance(holder, Template) else WorkloadAsset
    rows: list[models.Model] = [*table.build_links(holder, [(role, kind, asset.pk)])]
    for row in rows:
        row.save()
