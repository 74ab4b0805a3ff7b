"""What runs a gang: chosen by what the cluster has, or by the workload."""

from dataclasses import replace
from typing import Any

import pytest

from engines.base import Handle, Launch, Site
from engines.kubernetes.jobs import KAI
from engines.kubernetes.manifests.emitters import emitter_for
from engines.kubernetes.manifests.unsupported import complaints
from spec.formats import documents
from spec.framework import Framework
from spec.problems.errors import path_text
from spec.workload import JobForm
from tests.engines.kubernetes.cases import WORKLOAD

HANDLE = Handle(WORKLOAD, "mnist", "team-a")
PYTORCH = {"distributedFramework": "PyTorch", "worker": {"image": "a:1", "command": "true"}}
TENSORFLOW = PYTORCH | {"distributedFramework": "TF"}
OWN_MASTER = PYTORCH | {"master": {"image": "b:1", "command": "true"}}
WORKERS = PYTORCH | {"architecture": "workers_only"}
ROLES = {"roles": [{"name": "lead", "image": "a:1", "command": "true"}]}
HAS_OPERATOR = Site()
HAS_NONE = Site(plain_frameworks=frozenset({Framework.PYTORCH}))


def launch(document: dict[str, Any], site: Site, form: str | None = None) -> Launch:
    spec = documents.load_spec(document | ({"jobForm": form} if form else {}))
    return Launch(HANDLE, 1, spec, site=site)


@pytest.mark.parametrize(
    ("document", "site", "form"),
    [
        (PYTORCH, HAS_OPERATOR, JobForm.OPERATOR),
        (PYTORCH, HAS_NONE, JobForm.INDEXED),
        (OWN_MASTER, HAS_OPERATOR, JobForm.OPERATOR),
        (OWN_MASTER, HAS_NONE, JobForm.PER_RANK),
        (ROLES, HAS_OPERATOR, JobForm.PER_RANK),
        (TENSORFLOW, HAS_NONE, JobForm.OPERATOR),
    ],
)
def test_a_gang_that_does_not_choose_runs_as_the_cluster_has_it(
    document: dict[str, Any], site: Site, form: JobForm
) -> None:
    assert emitter_for(launch(document, site)).form is form


@pytest.mark.parametrize(
    ("document", "site", "form"),
    [
        (PYTORCH, HAS_OPERATOR, "Indexed"),
        (PYTORCH, HAS_OPERATOR, "PerRank"),
        (PYTORCH, HAS_OPERATOR, "Operator"),
        (WORKERS, HAS_OPERATOR, "Indexed"),
        (OWN_MASTER, HAS_OPERATOR, "PerRank"),
        (PYTORCH, HAS_NONE, "PerRank"),
        (ROLES, HAS_NONE, "PerRank"),
    ],
)
def test_a_gang_runs_in_the_form_that_it_asks_for(
    document: dict[str, Any], site: Site, form: str
) -> None:
    asked = launch(document, site, form)
    assert emitter_for(asked).form == form
    assert list(complaints(asked)) == []


@pytest.mark.parametrize(
    ("document", "site", "form", "message"),
    [
        (PYTORCH, HAS_NONE, "Operator", "the cluster has no PyTorchJob"),
        (ROLES, HAS_OPERATOR, "Operator", "no operator runs named roles"),
        (ROLES, HAS_OPERATOR, "Indexed", "roles differ"),
        (OWN_MASTER, HAS_OPERATOR, "Indexed", "the master has a setup of its own"),
        (WORKERS, HAS_OPERATOR, "PerRank", "workers alone have none"),
        (TENSORFLOW, HAS_OPERATOR, "Indexed", "by what their operator tells them"),
    ],
)
def test_a_form_that_cannot_run_the_gang_is_refused_at_its_field(
    document: dict[str, Any], site: Site, form: str, message: str
) -> None:
    problems = {path_text(it.path): it.message for it in complaints(launch(document, site, form))}
    assert message in problems["jobForm"]


def test_what_runs_a_gang_says_why() -> None:
    automatic = launch(PYTORCH, HAS_NONE)
    assert "no PyTorchJob" in emitter_for(automatic).explain(automatic)
    asked = launch(PYTORCH, HAS_OPERATOR, "Indexed")
    assert "asked for" in emitter_for(asked).explain(asked)
    with_kai = replace(asked, site=Site(schedulers=(KAI,)))
    assert "KAI" in emitter_for(with_kai).explain(with_kai)
