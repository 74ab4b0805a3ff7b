"""What differs between specs: flags of arguments, named items, versions of assets."""

from datetime import timedelta

import pytest
from django.http import QueryDict
from django.utils import timezone

from accounts.models import User
from assets.models import AssetVersion
from projects.models import Project
from spec.formats import documents
from tests.factories import EnvironmentFactory, WorkloadFactory
from workloads.compare.differences import (
    compare_assets,
    compare_specs,
    field_texts,
    split_arguments,
)
from workloads.compare.subjects import Selection, select_subjects
from workloads.models import Workload, WorkloadAsset


@pytest.mark.parametrize(
    ("line", "flags"),
    [
        ("", {}),
        ("train.py --lr 1e-3", {"argument 1": "train.py", "--lr": "1e-3"}),
        ("--lr=1e-3 --amp", {"--lr": "1e-3", "--amp": "set"}),
        ("--shift -0.5 -x 2 -v", {"--shift": "-0.5", "-x": "2", "-v": "set"}),
        ("--data a --data 'b c'", {"--data": "a, b c"}),
        ("--name= tail", {"--name": "set", "argument 1": "tail"}),
        ("a -- b", {"argument 1": "a", "argument 2": "--", "argument 3": "b"}),
        ("echo 'open", {"argument 1": "echo 'open"}),
    ],
)
def test_a_command_line_falls_into_flags(line: str, flags: dict[str, str]) -> None:
    assert split_arguments(line) == flags


def specified(workload: Workload, **worker: object) -> Workload:
    document = dict(workload.spec_json)
    document["worker"] = {**document["worker"], **worker}
    documents.load_spec(document)
    workload.spec_json = document
    workload.save()
    return workload


def selection_of(user: User, *workloads: Workload) -> Selection:
    query = QueryDict(f"ids={','.join(str(it.pk) for it in workloads)}")
    return select_subjects(query, user)


def test_one_other_flag_and_one_other_variable_are_two_rows(project: Project, member: User) -> None:
    first, second = (
        specified(
            WorkloadFactory(project=project, created_by=member),
            args=f"--epochs 3 --lr {rate}",
            environmentVariables=[
                {"name": "SEED", "value": seed},
                {"name": "API_TOKEN", "value": "hush-" + seed},
            ][:: 1 if seed == "1" else -1],
        )
        for rate, seed in (("1e-3", "1"), ("1e-2", "2"))
    )
    rows = [row for row in compare_specs(selection_of(member, first, second)) if row.differs]
    assert {row.path: list(row.texts) for row in rows} == {
        "worker.args --lr": ["1e-3", "1e-2"],
        "worker.environmentVariables SEED": ["1", "2"],
    }
    assert "hush" not in "".join(field_texts(first).values())


def test_assets_are_named_with_the_version_of_the_submission(
    project: Project, member: User
) -> None:
    environment = EnvironmentFactory(name="pytorch", project=project)
    now = timezone.now()
    workloads = []
    for number, age in ((1, 3), (2, 1)):
        AssetVersion.objects.update_or_create(
            kind="environment",
            asset_id=environment.pk,
            number=number,
            defaults={"columns": {}, "at": now - timedelta(hours=age)},
        )
        created_at = now - timedelta(hours=age - 0.5)
        workload = WorkloadFactory(project=project, created_by=member, created_at=created_at)
        WorkloadAsset.objects.create(
            workload=workload, kind="environment", asset_id=environment.pk, role="worker"
        )
        workloads.append(workload)
    (row,) = compare_assets(selection_of(member, *workloads), member)
    assert row.differs
    assert [text.rpartition("version ")[2] for text in row.texts] == ["1", "2"]
    assert row.texts[0].startswith("pytorch")
    environment.delete()
    (row,) = compare_assets(selection_of(member, *workloads), member)
    assert "pytorch" not in row.texts[0]
