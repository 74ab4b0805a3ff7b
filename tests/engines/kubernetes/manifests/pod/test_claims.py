"""New claims: those of a workload, and those that stay for others."""

import pytest

from engines.base import EngineRefused
from engines.kubernetes import objects
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.manifests.job import manifests
from tests.engines.kubernetes.cases import case
from tests.engines.kubernetes.launches import loaded


def test_a_named_claim_is_created_once_and_outlives_the_workload() -> None:
    pvc = {"path": "/data", "claimName": "shared", "claimInfo": {"size": "1G"}}
    own = {"path": "/own", "claimInfo": {"size": "1G"}}
    worker = {"image": "i", "storage": {"pvc": [pvc, own]}}
    documents = manifests(loaded(worker=worker, master=worker), prefix="")
    claims = [it["metadata"] for it in documents if it["kind"] == "PersistentVolumeClaim"]
    (shared,) = [it for it in claims if it["name"] == "shared"]
    assert WORKLOAD not in shared["labels"]
    assert [WORKLOAD in it["labels"] for it in claims if it is not shared] == [True, True]
    assert str(documents[-1]).count("'claimName': 'shared'") == 2


def test_a_refused_claim_is_told_at_the_field_of_its_role() -> None:
    class Refusing:
        def create(self, path: str, item: object) -> None:
            raise EngineRefused("exceeded quota")

    claims = [
        item
        for name in ("pytorch-every-option", "jobs-roles")
        for item in manifests(case(name), prefix="")
        if item["kind"] == "PersistentVolumeClaim"
    ]
    fields = []
    for claim in claims:
        with pytest.raises(EngineRefused) as refusal:
            objects.create_object(Refusing(), claim)  # type: ignore[arg-type]
        fields.append(refusal.value.field)
    assert (fields[0], fields[1], fields[-1]) == (
        "master.storage.pvc[0]",
        "worker.storage.pvc[0]",
        "roles[1].storage.pvc[0]",
    )
