"""A bad value answers 422, keeps what was typed, and says beside the field what is wrong."""

from typing import Any

import pytest

from assets.models import ComputeResource, Environment
from tests.assets import posts
from tests.assets.posts import rows
from tests.factories import ProjectFactory, UserFactory
from tests.web import DRAWER, signed_in

pytestmark = pytest.mark.django_db

CUSTOM = {"uid_gid_source": "custom"}
BAD_ENVIRONMENTS = [
    ({"name": ""}, "name", "Name is required."),
    ({"name": "n" * 64}, "name", "at most 63"),
    ({"description": "d" * 251}, "description", "at most 250"),
    ({"image": ""}, "image", "Image URL is required; write an image URL such as"),
    ({"image": "two words"}, "image", "is not an image URL"),
    ({"image": "i" * 513}, "image", "at most 512"),
    ({"image_pull_policy": "Sometimes"}, "image_pull_policy", "valid choice"),
    ({"architecture": "none"}, "architecture", "valid choice"),
    ({"framework": "Caffe"}, "framework", "valid choice"),
    ({"command": "c" * 10_001}, "command", "at most 10000"),
    ({"args": "a" * 10_001}, "args", "at most 10000"),
    ({"working_dir": "w" * 4097}, "working_dir", "at most 4096"),
    ({"run_as_uid": "1000"}, "run_as_uid", "only when"),
    ({**CUSTOM, "run_as_uid": "-1"}, "run_as_uid", "at least 0"),
    ({**CUSTOM, "run_as_uid": "me"}, "run_as_uid", "whole number"),
    ({**CUSTOM, "run_as_gid": "99999999999"}, "run_as_gid", "at most"),
    (
        {**CUSTOM, "supplemental_groups": "users"},
        "supplemental_groups",
        "whole numbers, separated by commas",
    ),
    ({"capabilities": ["FLY"]}, "capabilities", "valid choice"),
    ({"tty": "on"}, "tty", "needs stdin"),
]


@pytest.mark.parametrize(("changes", "field", "words"), BAD_ENVIRONMENTS)
def test_a_bad_environment_names_its_field(changes: dict[str, Any], field: str, words: str) -> None:
    project = ProjectFactory()
    client = signed_in(UserFactory(administrator=True))
    post = posts.environment(project, description="kept") | changes
    response = client.post("/environments/new/", post)
    assert response.status_code == 422
    form = response.context["form"]
    assert words in form.errors[field][0], form.errors
    page = response.content.decode()
    assert f'id="id_{field}_error"' in page
    assert 'aria-invalid="true"' in page
    assert "description" in changes or 'value="kept"' in page
    assert not Environment.objects.exists()


@pytest.mark.parametrize(
    ("prefix", "items", "at", "field", "words"),
    [
        ("variables", [{"name": "9A", "value": "1"}], 0, "name", "not a variable name"),
        ("variables", [{"name": "", "value": "1"}], 0, "name", "required"),
        ("variables", [{"name": ""}, {"name": "A-B C"}], 1, "name", "not a variable name"),
        ("variables", [{"name": "A", "source": "secret", "value": "s"}], 0, "key", "is required"),
        ("variables", [{"name": "A", "source": "secret", "value": "B_", "key": "k"}], 0, "value",
         "only lower-case letters"),
        ("tools", [{"tool_type": "custom"}], 0, "container_port", "is required"),
        ("tools", [{"tool_type": "custom", "container_port": "70000"}], 0, "container_port",
         "at most 65535"),
        ("tools", [{"tool_type": "custom", "container_port": "80", "node_port": "80"}], 0,
         "node_port", "at least 30000"),
        ("tools", [{"tool_type": "custom", "container_port": "80", "external_url": "x"}], 0,
         "external_url", "must start with http"),
    ],
)  # fmt: skip
def test_a_bad_row_names_its_cell(
    prefix: str, items: list[dict[str, Any]], at: int, field: str, words: str
) -> None:
    post = posts.environment(ProjectFactory(), **rows(prefix, *items))
    response = signed_in(UserFactory(administrator=True)).post("/environments/new/", post, **DRAWER)
    assert response.status_code == 422
    form = response.context["form"]
    assert words in form[prefix].items[at].by_slug[field].errors[0], form.errors
    assert "<details open" in response.content.decode().replace(' class="fold"', "")


def test_a_variable_given_twice_is_said_above_the_form() -> None:
    twice = rows("variables", {"name": "A", "value": "1"}, {"name": "A", "value": "2"})
    post = posts.environment(ProjectFactory(), **twice)
    response = signed_in(UserFactory(administrator=True)).post("/environments/new/", post)
    assert "A is given twice" in response.content.decode()


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"name": ""}, "name", "Name is required."),
        ({"gpu_devices": "-1"}, "gpu_devices", "at least 0"),
        ({"gpu_devices": "65", "gpu_request": "100"}, "gpu_devices", "at most 64"),
        ({"gpu_devices": "1.5"}, "gpu_devices", "whole number"),
        ({"gpu_devices": "2"}, "gpu_devices", "exactly 1"),
        ({"gpu_devices": "0", "gpu_request": "10"}, "gpu_devices", "exactly 1"),
        ({"gpu_request": "0"}, "gpu_request", "more than 0"),
        ({"gpu_request": "101"}, "gpu_request", "at most 1"),
        ({"gpu_request": "ten"}, "gpu_request", "number"),
        ({"gpu_request": "20", "gpu_limit": "10"}, "gpu_limit", "less than the request"),
        ({"gpu_unit": "G", "gpu_request": "0"}, "gpu_request", "more than 0"),
        ({"gpu_unit": "G", "gpu_request": ""}, "gpu_request", "Enter an amount"),
        ({"gpu_unit": "horsepower"}, "gpu_unit", "valid choice"),
        ({"cpu_request": "-1"}, "cpu_request", "at least 0"),
        ({"cpu_request": "2000"}, "cpu_request", "at most 1024"),
        ({"cpu_limit": "0"}, "cpu_limit", "more than 0"),
        ({"cpu_request": "2", "cpu_limit": "1"}, "cpu_limit", "less than the request"),
        ({"memory_request": "0"}, "memory_request", "more than 0"),
        ({"memory_request": "-5"}, "memory_request", "not an amount"),
        ({"memory_request": "1e400"}, "memory_request", "number"),
        ({"memory_limit": "50"}, "memory_limit", "less than the request"),
    ],
)
def test_a_bad_compute_resource_names_its_field(
    changes: dict[str, Any], field: str, words: str
) -> None:
    client = signed_in(UserFactory(administrator=True))
    post = posts.compute(ProjectFactory(), **changes)
    response = client.post("/compute-resources/new/", post)
    assert response.status_code == 422
    form = response.context["form"]
    assert words in form.errors[field][0], form.errors
    assert not ComputeResource.objects.exists()


def test_a_bad_extended_resource_names_its_cell() -> None:
    extended = rows("extended", {"resource": "rdma/rdma", "quantity": "many"})
    post = posts.compute(ProjectFactory(), **extended)
    response = signed_in(UserFactory(administrator=True)).post("/compute-resources/new/", post)
    row = response.context["form"]["extended"].items[0]
    assert "not an amount" in row.by_slug["quantity"].errors[0]
