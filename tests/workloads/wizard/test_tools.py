"""Tools in the workload: of the environment, changed, added; node ports; who may open them."""

from typing import Any

import pytest
from pytest_django import Settings

from accounts.access import ACCOUNT
from accounts.models import GroupMembership, UserGroup
from accounts.permissions import ADMINISTRATOR
from projects.models import Project
from tests.factories import UserFactory, WorkloadFactory, add_members, give, remove_members
from tests.workloads.wizard.browser import Wizard
from tests.workloads.wizard.tools import GROUPS, TOOLS, USERS, people, tool
from workloads.models import Workload

pytestmark = pytest.mark.django_db
JUPYTER = {
    "name": "Jupyter",
    "toolType": "jupyter-notebook",
    "connectionType": "NodePort",
    "containerPort": 8888,
}


@pytest.fixture
def served(wizard: Wizard, on_kubernetes: Project) -> Wizard:
    """An environment with Jupyter on a node port."""
    wizard.ready()
    environment = wizard.environment
    environment.spec_json["connections"] = [JUPYTER]
    environment.save()
    return wizard.open(wizard.at(2))


def stored_tools(wizard: Wizard) -> list[Any]:
    values: list[Any] = wizard.draft.content.worker.values.get("connections", [])
    return values


def test_a_tool_of_the_environment_can_be_changed_for_the_workload(
    served: Wizard,
) -> None:
    assert "Node port, port 8888, Anyone with workload access" in served.page
    served.press(f"add:{TOOLS}=Jupyter")
    assert stored_tools(served) == [JUPYTER]
    served.press("save", **{f"{TOOLS}-0-node_port": "31777"})
    (connection,) = served.plan().require_ready().spec.worker.connections
    assert (connection.name, connection.node_port) == ("Jupyter", 31777)
    assert served.environment.spec_json["connections"] == [JUPYTER], "the asset does not change"


def test_a_tool_of_ones_own_stands_next_to_that_of_the_environment(served: Wizard) -> None:
    served.press(f"add:{TOOLS}")
    served.press("save", **{f"{TOOLS}-0-name": "TB", f"{TOOLS}-0-container_port": "6006"})
    names = [tool.name for tool in served.plan().require_ready().spec.worker.connections]
    assert names == ["Jupyter", "TB"]


def test_a_new_tool_begins_as_the_cluster_can_reach_it(served: Wizard) -> None:
    served.press(f"add:{TOOLS}")
    (begun,) = stored_tools(served)
    assert begun["connectionType"] == "ClusterIP", "the cluster has no domain for URLs"
    assert "authorizationType" not in begun


def test_a_new_tool_with_a_url_is_open_to_authenticated_users(
    wizard: Wizard, on_kubernetes: Project, settings: Settings
) -> None:
    """Step 9: the default, until its author chooses others."""
    settings.PUBLIC_URL = "https://trainyard.example.com"
    on_kubernetes.cluster.settings_json = {"ingress_domain": "apps.example.com"}
    on_kubernetes.cluster.save()
    wizard.ready().open(wizard.at(2)).press(f"add:{TOOLS}")
    (begun,) = stored_tools(wizard)
    assert (begun["connectionType"], begun["authorizationType"]) == (
        "ExternalUrl",
        "authenticatedUsers",
    )
    assert 'value="authenticatedUsers" selected' in wizard.page


def test_a_node_port_that_another_workload_has_is_refused_before_submission(
    served: Wizard, on_kubernetes: Project
) -> None:
    other = WorkloadFactory(project=on_kubernetes)
    Workload.objects.filter(pk=other.pk).update(
        spec_json=other.spec_json
        | {"worker": other.spec_json["worker"] | {"connections": [{**JUPYTER, "nodePort": 31777}]}}
    )
    page = served.save(2, **tool(node_port="31777"))
    assert "31777 is taken by another workload of the cluster; enter another" in page
    assert f'data-for="{TOOLS}-0-node_port" data-invalid' in page
    served.save(2, **tool(node_port="31778"))
    assert served.plan().is_submittable
    Workload.objects.filter(pk=other.pk).update(deleted_at=other.created_at)
    served.save(2, **tool(node_port="31777"))
    assert served.plan().is_submittable, "a deleted one has it no longer"


def test_two_tools_of_one_workload_cannot_have_one_node_port(served: Wizard) -> None:
    second = tool(1, name="b", node_port="31777")
    page = served.save(2, **tool(name="a", node_port="31777") | second)
    assert "31777 is what another tool of this workload has" in page
    assert f'data-for="{TOOLS}-1-node_port" data-invalid' in page


def test_an_author_who_leaves_themselves_out_is_warned(served: Wizard) -> None:
    stranger = UserFactory(username="stranger")
    colleague = UserFactory(username="maria")
    project = served.plan().project
    assert project
    add_members(project, colleague)
    page = served.save(2, **people("maria", "nobody", str(stranger)))
    assert "There is no user nobody, stranger in your projects." in page
    assert "You are not among them." in page
    assert served.plan().is_submittable, "a warning refuses nothing"
    me = served.user.username
    page = served.save(2, **people("maria", me))
    assert "You are not among them." not in page


def test_groups_that_the_author_is_not_in_are_warned_of(served: Wizard) -> None:
    group = UserGroup.objects.create(name="vision")
    page = served.save(2, **people("vision", "other", access=GROUPS))
    assert "There is no group" not in page, "which there are only administrators may see"
    assert "You are in none of these groups." in page
    GroupMembership.objects.create(group=group, user=served.user)
    page = served.save(2, **people("vision", access=GROUPS))
    assert "You are in none" not in page
    give(served.user, ADMINISTRATOR.name, ACCOUNT)
    page = served.save(2, **people("vision", "other", access=GROUPS))
    assert "There is no group other yet." in page


def test_names_are_suggested_from_the_authors_projects_and_groups(
    served: Wizard, on_kubernetes: Project
) -> None:
    add_members(on_kubernetes, UserFactory(username="maria"), UserFactory(username="mark"))
    UserFactory(username="margit")
    for name in ("vision", "vision-outside"):
        UserGroup.objects.create(name=name)
    GroupMembership.objects.create(group=UserGroup.objects.get(name="vision"), user=served.user)

    def suggested(text: str, of: str) -> list[str]:
        address = f"/workloads/drafts/{served.draft.pk}/people/"
        page = served.client.get(address, {"text": text, "of": of}).content.decode()
        return [part.split('"')[0] for part in page.split('value="')[1:]]

    assert suggested("mar", "authorizedUsers") == ["maria", "mark"]
    assert suggested(" ARK", "authorizedUsers") == ["mark"]
    assert suggested("vis", "authorizedGroups") == ["vision"]
    remove_members(on_kubernetes, served.user)
    assert suggested("mar", "authorizedUsers") == [], "of projects that the author sees"


def test_a_tool_is_in_the_review(served: Wizard) -> None:
    page = served.open(served.at(3)).page
    assert "Jupyter" in page
    assert "Node port, port 8888" in page


def test_a_tool_that_is_elsewhere_asks_for_its_url_alone(served: Wizard) -> None:
    url = "https://wandb.ai/team/${LR}"
    runs = tool(tool_type="wandb", external_url=url, name="Runs", access=USERS)
    page = served.save(2, **runs)
    (connection,) = (
        it for it in served.plan().require_ready().spec.worker.connections if it.is_external
    )
    assert (connection.name, connection.external_url) == ("Runs", url)
    assert not connection.authorized_users
    page = served.open(served.at(2)).page
    assert f'name="{TOOLS}-0-external_url"' in page
    for cell in ("container_port", "node_port", "connection_type", "access"):
        assert f'name="{TOOLS}-0-{cell}"' not in page
    assert "stands for a variable" in page
    assert "Weights &amp; Biases, https://wandb.ai/team/${LR}" in served.open(served.at(3)).page
    page = served.save(2, **tool(tool_type="comet", name="Runs"))
    assert "Custom URL is required" in page
