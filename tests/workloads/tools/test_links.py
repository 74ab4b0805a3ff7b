"""Pages elsewhere that belong to a workload: external tools, and related URLs."""

import pytest

from accounts.models import User
from spec.formats import documents
from spec.problems.errors import SpecError
from spec.tools import Link, external_links
from tests.web import signed_in
from workloads.models import Workload
from workloads.tools.access import tools_of_workload

pytestmark = pytest.mark.django_db
RUNS = {"name": "Runs", "toolType": "wandb", "externalUrl": "https://wandb.ai/ada/${PROJECT}"}


def belongs(workload: Workload, *, url: str = "", **variables: str) -> Workload:
    worker = workload.spec_json["worker"]
    worker["connections"] = [RUNS | ({"externalUrl": url} if url else {})]
    worker["environmentVariables"] = [{"name": k, "value": v} for k, v in variables.items()]
    workload.save()
    return workload


def test_variables_stand_in_the_address_of_a_tool_that_is_elsewhere(workload: Workload) -> None:
    belongs(workload, PROJECT="big nets")
    (link,) = external_links(workload.spec)
    assert link == Link("Runs", "Weights & Biases", "https://wandb.ai/ada/big%20nets")
    assert tools_of_workload(workload) == (), "nothing serves it"


def test_a_related_url_is_called_as_a_tool_of_its_type(workload: Workload) -> None:
    workload.spec_json["relatedUrls"] = [{"url": "https://wandb.ai/ada", "type": "wandb"}]
    name = "Weights & Biases"
    assert external_links(workload.spec) == (Link(name, name, "https://wandb.ai/ada"),)


def test_an_address_shows_no_secret_and_says_what_it_lacks(workload: Workload) -> None:
    belongs(workload, url="https://comet.com/${TEAM}/${API_KEY}", API_KEY="zanzibar")
    (link,) = external_links(workload.spec)
    assert link.unknown == ("API_KEY", "TEAM")
    assert "zanzibar" not in link.url


def test_an_address_names_no_credential(workload: Workload) -> None:
    belongs(workload)
    named = {"name": "PROJECT", "credential": {"name": "hub", "key": "token"}}
    workload.spec_json["worker"]["environmentVariables"] = [named]
    with pytest.raises(SpecError, match="URL of Runs must not name PROJECT, which holds the value"):
        documents.load_spec(workload.spec_json)


def test_connect_leads_there_whatever_the_phase(workload: Workload, member: User) -> None:
    related = {"url": "https://example.com/paper", "type": "paper", "name": "The paper"}
    belongs(workload, PROJECT="digits").spec_json["relatedUrls"] = [related]
    workload.save()
    page = signed_in(member).get(f"/workloads/{workload.pk}/connect/").content.decode()
    for url in ("https://wandb.ai/ada/digits", "https://example.com/paper"):
        assert f'href="{url}" target="_blank"' in page
    belongs(workload)
    page = signed_in(member).get(f"/workloads/{workload.pk}/connect/").content.decode()
    assert "Its URL needs PROJECT" in page
