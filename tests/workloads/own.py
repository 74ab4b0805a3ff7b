"""Workloads that use a credential of their author's own."""

from assets.credential.kind import CREDENTIAL
from tests.factories import CredentialFactory
from workloads.models import Workload, WorkloadAsset


def use_own_credential(workload: Workload) -> None:
    credential = CredentialFactory.create(in_account=True, owner=workload.created_by)
    link = {"kind": CREDENTIAL.slug, "asset_id": credential.pk, "role": "worker"}
    WorkloadAsset.objects.create(workload=workload, **link)
