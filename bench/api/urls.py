"""Trainyard's addresses, with a view of django-ninja that only inserts a row."""

from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest
from django.urls import path
from ninja import NinjaAPI, Schema, Status

from bench.fill import SPEC
from config.urls import urlpatterns as ours
from workloads.models import Workload

bare = NinjaAPI(urls_namespace="bare", docs_url=None)


class BareIn(Schema):
    name: str
    projectId: int
    clusterId: UUID
    spec: dict[str, Any]


class BareOut(Schema):
    id: UUID


@bare.post("/workloads", response={201: BareOut})
def insert(request: HttpRequest, body: BareIn) -> Status[dict[str, UUID]]:
    row = Workload(
        id=uuid4(),
        name=body.name,
        project_id=body.projectId,
        cluster_id=body.clusterId,
        spec_json=SPEC,
        draft_json=body.spec,
        framework="PyTorch",
        architecture="workers_and_master",
        image=body.spec["image"],
        num_pods=3,
        gpus=0.3,
        cpu_cores=0.3,
        memory_bytes=300_000_000,
    )
    row.save(force_insert=True)
    return Status(201, {"id": row.pk})


urlpatterns = [path("bare/", bare.urls), *ours]
