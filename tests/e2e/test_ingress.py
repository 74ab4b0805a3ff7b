"""External URLs: what a cluster's ingress lets through. A real nginx asks the real product."""

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from http import HTTPStatus
from urllib.parse import urlsplit

import httpx
import pytest
from websockets.exceptions import InvalidStatus, InvalidURI
from websockets.sync.client import connect
from websockets.typing import Origin

from engines.kubernetes.labels import TOOL
from tests.cluster import SHELL_IMAGE, RealCluster
from tests.ingress import NGINX, controller, host_of, upstream
from tests.product import PASSWORD, Trainyard
from tests.rest import ENDS, Rest
from tests.waiting import wait_for

pytestmark = pytest.mark.kubernetes

CLUSTER = "outside"
PROJECT = "tools"
WAIT = "sh -c \"trap 'exit 0' TERM; while :; do sleep 0.2; done\""
USERS = ("ada", "bob", "eve")  # named by the rules, of the project alone, and neither
SEED = f"""
from accounts.models import User, UserGroup
from projects.models import Project
from tests.factories import add_members
users = {{name: User.objects.create_user(name, password={PASSWORD!r}) for name in {USERS}}}
UserGroup.objects.create(name="reviewers").people.add(users["ada"])
add_members(Project.objects.get(name={PROJECT!r}), users["bob"])
"""
CLEAR = f"""
from accounts.models import User, UserGroup
from clusters.models import Cluster
from projects.models import Project
from workloads.models import Workload
Workload.objects.filter(project__name={PROJECT!r}).delete()
Project.objects.filter(name={PROJECT!r}).delete()
Cluster.objects.filter(name={CLUSTER!r}).delete()
User.objects.filter(username__in={USERS}).delete()
UserGroup.objects.filter(name="reviewers").delete()
"""
TOOLS: list[dict[str, object]] = [
    {"name": "named", "authorizationType": "authorizedUsers", "authorizedUsers": ["ada"]},
    {"name": "group", "authorizationType": "authorizedGroups", "authorizedGroups": ["reviewers"]},
    {"name": "open", "authorizationType": "authenticatedUsers"},
]
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


@dataclass(frozen=True)
class Outside:
    """The controller's port, and the host of each tool."""

    trainyard: Trainyard
    rest: Rest
    workload: str
    port: int
    hosts: dict[str, str]


class Visitor:
    """A browser with cookies of Trainyard's and of each tool's host, which goes where it is sent.

    Names lead to this machine, as an entry in the DNS would have them do.
    """

    def __init__(self, outside: Outside) -> None:
        self.outside = outside
        self.home = outside.trainyard.url
        self.sites = {self.home: httpx.Client(base_url=self.home, timeout=20)}
        for host in outside.hosts.values():
            self.sites[f"http://{host}"] = httpx.Client(
                base_url=f"http://127.0.0.1:{outside.port}", headers={"Host": host}, timeout=20
            )

    def get(self, url: str) -> httpx.Response:
        """The answer at the end of all redirects."""
        for _ in range(8):
            parts = urlsplit(url)
            path = parts._replace(scheme="", netloc="").geturl()
            answer = self.sites[f"{parts.scheme}://{parts.netloc}"].get(path)
            if not answer.is_redirect:
                return answer
            url = str(httpx.URL(url).join(answer.headers["Location"]))
        raise AssertionError(f"still redirected: {url}")

    def open(self, tool: str, path: str = "/") -> httpx.Response:
        return self.get(f"http://{self.outside.hosts[tool]}{path}")

    def sign_in(self, page: httpx.Response, username: str) -> httpx.Response:
        """With the form that this page is; what that leads to."""
        (token, *_) = TOKEN.findall(page.text)
        told = {"login": username, "password": PASSWORD, "csrfmiddlewaretoken": token}
        answer = self.sites[self.home].post(str(page.url), data=told)
        assert answer.is_redirect, answer.text
        return self.get(str(page.url.join(answer.headers["Location"])))

    def websocket(self, tool: str, origin: str) -> str:
        """What the tool says in one."""
        host = self.outside.hosts[tool]
        cookies = self.sites[f"http://{host}"].cookies
        named = {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
        way = socket.create_connection(("127.0.0.1", self.outside.port), timeout=10)
        with connect(
            f"ws://{host}/ws", sock=way, additional_headers=named, origin=Origin(origin), proxy=None
        ) as opened:
            return str(opened.recv(10))

    def leave(self) -> None:
        for site in self.sites.values():
            site.close()


@pytest.fixture
def visitor(outside: Outside) -> Iterator[Visitor]:
    visitor = Visitor(outside)
    yield visitor
    visitor.leave()


@pytest.fixture(scope="module")
def joined(running_trainyard: Trainyard, real_cluster: RealCluster) -> Iterator[Rest]:
    """The product with people and a project of this file's, which go with it."""
    if NGINX is None:
        pytest.skip("nginx is not installed")
    real_cluster.join(running_trainyard, CLUSTER, PROJECT)
    running_trainyard.manage("shell", "--command", SEED)
    with Rest(running_trainyard, PROJECT) as rest:
        named = {"ingressDomain": "train.example.com", "ingressClass": "nginx"}
        rest.send("PUT", f"/clusters/{rest.project['clusterId']}", named)
        yield rest
    running_trainyard.manage("shell", "--command", CLEAR)


@pytest.fixture(scope="module")
def workload(joined: Rest, real_cluster: RealCluster) -> Iterator[str]:
    made = submitted(joined)
    try:
        assert joined.wait(made, "Running", *ENDS, timeout=120) == "Running"
        yield made
    finally:
        joined.delete(made)
        wait_for(lambda: is_gone(joined, made), 60, "the workload to be gone", every=0.1)
        wait_for(lambda: not real_cluster.pods(made), 60, "its pods to be gone", every=0.2)


@pytest.fixture(scope="module")
def outside(
    running_trainyard: Trainyard,
    joined: Rest,
    workload: str,
    real_cluster: RealCluster,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Outside]:
    found = real_cluster.of(workload, "/apis/networking.k8s.io/v1/ingresses")
    hosts = {one["metadata"]["labels"][TOOL]: host_of(one) for one in found}
    folder = tmp_path_factory.mktemp("nginx")
    with upstream() as backend, controller(found, folder, backend) as port:
        yield Outside(running_trainyard, joined, workload, port, hosts)


def is_gone(rest: Rest, workload: str) -> bool:
    return rest.http.get(f"/workloads/{workload}").status_code == HTTPStatus.NOT_FOUND


def submitted(rest: Rest) -> str:
    common = {"connectionType": "ExternalUrl", "toolType": "custom"}
    tools = [{**one, **common, "containerPort": 8000 + at} for at, one in enumerate(TOOLS)]
    return rest.submit(
        "served",
        workers=1,
        noMaster=True,
        image=SHELL_IMAGE,
        command=WAIT,
        compute={"gpuDevicesRequest": 0, "cpuCoreRequest": 0.02, "cpuMemoryRequest": "20M"},
        connections=tools,
        terminationGracePeriodSeconds=1,
    )


def test_a_visitor_of_an_external_url_signs_in_and_is_led_back(visitor: Visitor) -> None:
    asked = visitor.open("named", "/lab/tree?a=b")
    assert "/accounts/login/" in str(asked.url)
    came = visitor.sign_in(asked, "ada")
    assert came.text.startswith("the tool's /lab/tree?a=b&trainyard_code=")
    assert visitor.open("named", "/lab").text == "the tool's /lab"
    host = f"http://{visitor.outside.hosts['named']}"
    for theme in ("dark", "dark" * 1_250):  # as long as cookies of other programs are at times
        visitor.sites[host].cookies.set("theme", theme)
        text = f"the tool's /lab with theme={theme}"
        assert visitor.open("named", "/lab").text == text, "our cookie stays with us"
    visitor.sites[host].cookies.delete("theme")
    # The same address again, as after a reload: its code is spent, and the cookie is good.
    assert visitor.open("named", came.url.raw_path.decode()).text == came.text
    visitor.sites[visitor.home].cookies.clear()
    spent = visitor.open("open", came.url.raw_path.decode())
    assert "/accounts/login/" in str(spent.url)


@pytest.mark.parametrize(
    ("username", "named", "group", "opened"),
    [("ada", 200, 200, 200), ("bob", 403, 403, 200), ("eve", 404, 404, 200)],
)
def test_each_rule_of_an_external_url_lets_in_its_own_users(
    visitor: Visitor, username: str, named: int, group: int, opened: int
) -> None:
    visitor.sign_in(visitor.open("open"), username)
    seen = {tool: visitor.open(tool) for tool in visitor.outside.hosts}
    wanted = {"named": named, "group": group, "open": opened}
    assert {tool: answer.status_code for tool, answer in seen.items()} == wanted
    if named == HTTPStatus.FORBIDDEN:
        assert "You do not have access to this tool. Access: ada." in seen["named"].text
        assert "Access: Groups reviewers." in seen["group"].text


def test_websockets_are_opened_from_the_tools_own_pages(visitor: Visitor) -> None:
    here, there = (f"http://{visitor.outside.hosts[tool]}" for tool in ("named", "open"))
    with pytest.raises(InvalidURI, match="/tools/signin/"):
        visitor.websocket("named", here)
    visitor.sign_in(visitor.open("named"), "ada")
    assert visitor.websocket("named", here) == "hello"
    with pytest.raises(InvalidStatus, match="403"):
        visitor.websocket("named", there)


def test_an_external_url_of_a_tool_that_does_not_run_says_so(visitor: Visitor) -> None:
    visitor.sign_in(visitor.open("open"), "ada")
    rest = visitor.outside.rest
    workload = visitor.outside.workload
    rest.act(workload, "suspend")
    rest.wait(workload, "Stopped")
    answer = visitor.open("open")
    assert answer.status_code == HTTPStatus.CONFLICT
    assert "can be opened while worker-0 runs" in answer.text
