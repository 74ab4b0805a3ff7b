"""REST answers whatever is sent to it: never with a mistake of its own."""

import json
from random import Random
from typing import Any

import pytest
from django.test import Client

from accounts import tokens
from accounts.models import User
from config.rest.api import api
from tests.fuzz.bodies import bodies
from tests.fuzz.choosing import rounds
from tests.fuzz.conftest import Place
from tests.fuzz.values import TEXTS, mutated, query_of

PARAMETERS = (
    *("filterBy", "search", "sortBy", "sortOrder", "offset", "limit", "projectId", "name"),
    *("clusterId", "nodePool", "rank", "run", "attempt", "dryRun", "\0"),
)


def calls() -> list[tuple[str, str]]:
    paths: dict[str, Any] = api.get_openapi_schema()["paths"]
    return sorted((method.upper(), path) for path, its in paths.items() for method in its)


def address(random: Random, path: str, place: Place) -> str:
    for name in ("workload_id", "cluster_id", "test_id", "asset_id", "template_id"):
        path = path.replace(f"{{{name}}}", random.choice(place.ids["uuid"]))
    for name in ("department_id", "project_id", "pool_id", "key_id"):
        number = random.choice([*place.ids["int"], "9" * 19, "9" * 400, "-1"])
        path = path.replace(f"{{{name}}}", number)
    return path


def send(client: Client, user: User | None, method: str, path: str, body: bytes) -> Any:
    headers = {"Authorization": f"Bearer {tokens.access_token_for(user)}"} if user else {}
    answer = client.generic(method, path, body, content_type="application/json", headers=headers)
    assert answer.status_code < 500, f"{method} {path[:300]} {body[:600]!r}: {answer.content!r}"
    return answer


@pytest.mark.extended
@pytest.mark.parametrize("who", ["administrator", "researcher", ""])
def test_no_call_of_the_api_ends_in_a_mistake_of_ours(
    place: Place, nobody: Client, random: Random, who: str
) -> None:
    user = getattr(place, who) if who else None
    every = calls()
    takes = bodies(place.project, place.workload)
    for _ in rounds():
        method, path = random.choice(every)
        end = max((end for end in takes if path.endswith(end)), key=len, default="")
        document = mutated(random, takes.get(end, {}))
        body = b"" if method in {"GET", "DELETE"} else json.dumps(document).encode()
        if random.random() < 0.05:
            body = bytes(random.randrange(256) for _ in range(40))
        here = address(random, path, place)
        if random.random() < (0.9 if method == "GET" else 0.1):
            here += f"?{query_of(random, PARAMETERS)}"
        send(nobody, user, method, here, body)
        if random.random() < 0.05:
            odd = random.choice(TEXTS).encode("ascii", "ignore").decode()
            answer = nobody.get(here, headers={"Authorization": f"Bearer {odd}"})
            assert answer.status_code < 500, odd[:300]


DEEP = b'{"name":"a","projectId":"1","clusterId":"%s","spec":' + b'{"a":' * 900 + b"1" + b"}" * 901


def once() -> list[tuple[str, str, bytes, str]]:
    """Each of these ended in a 500, or in silence, before; the last says who asks."""
    some = "00000000-0000-0000-0000-000000000000"
    token = b'{"grantType":"%s","username":"%s","clientId":"%s","clientSecret":"x","password":"x"}'
    submit = b'{"name":"%s","projectId":"1","clusterId":"' + some.encode() + b'","spec":{%s}}'
    nul = b"a\\u0000b"
    return [
        ("POST", "/token", token % (b"app_token", b"", b"\\ud800"), ""),
        ("POST", "/token", token % (b"app_token", b"", nul), ""),
        ("POST", "/token", token % (b"password", nul, b""), ""),
        ("POST", "/workloads/distributed", submit % (b"\\ud800", b""), "researcher"),
        ("POST", "/workloads/distributed", DEEP % some.encode(), "researcher"),
        ("POST", "/workloads/distributed", submit % (b"a", b'"master":5'), "researcher"),
        ("POST", "/workloads/distributed", submit % (b"a", b'"category":"' + nul), "researcher"),
        ("POST", "/access-keys", b'{"name":"%s"}' % nul, "researcher"),
        ("GET", "/nodes?name=%00", b"", "researcher"),
        ("GET", f"/workloads?filterBy=name=@{'a' * 60_000}", b"", "researcher"),
        ("GET", f"/workloads/{{}}/logs?rank={'9' * 400}", b"", "researcher"),
        ("GET", "/workloads?limit=501", b"", "researcher"),
        ("GET", "/workloads?limit=-1", b"", "researcher"),
    ]


@pytest.mark.parametrize(
    ("method", "path", "body", "who"), once(), ids=[f"{it[0]} {it[1][:40]}" for it in once()]
)
def test_a_call_that_ended_in_a_mistake_once_is_refused(
    place: Place, nobody: Client, method: str, path: str, body: bytes, who: str
) -> None:
    here = f"/api/v1{path.format(place.workload.pk)}"
    answer = send(nobody, getattr(place, who) if who else None, method, here, body)
    assert answer.status_code == 400
    document = json.loads(answer.content)
    assert document["complianceIssues"], document
    assert "went wrong" not in document["message"]
