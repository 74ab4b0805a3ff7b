"""A caller of the running product's REST API."""

from typing import Any, Protocol, Self

import httpx

from tests.waiting import wait_for

DIGITS = "kubeflow/pytorch-dist-mnist:latest"
ENDS = {"Completed", "Failed", "Stopped"}


class Server(Protocol):
    """Where it runs, and who calls."""

    @property
    def url(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def password(self) -> str: ...


class Rest:
    """Signed in as the administrator, in the demo project unless told otherwise."""

    def __init__(self, trainyard: Server, project: str = "") -> None:
        self.http = httpx.Client(base_url=f"{trainyard.url}/api/v1", timeout=20)
        token = self.send(
            "POST",
            "/token",
            {
                "grantType": "password",
                "username": trainyard.username,
                "password": trainyard.password,
            },
        )
        self.http.headers["Authorization"] = f"Bearer {token['accessToken']}"
        projects = self.send("GET", "/org-unit/projects")["projects"]
        self.project = next(one for one in projects if project in ("", one["name"]))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()

    def send(self, method: str, path: str, body: Any = None) -> Any:
        answer = self.http.request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def submit(self, name: str, *, workers: int = 2, **spec: Any) -> str:
        """The id of a new workload; ``spec`` goes over a spec that trains on the digits."""
        body = self.document(name, workers=workers, **spec)
        return str(self.send("POST", "/workloads/distributed", body)["workloadId"])

    def document(self, name: str, *, workers: int = 2, **spec: Any) -> dict[str, Any]:
        """What a submission sends."""
        return {
            "name": name,
            "projectId": self.project["id"],
            "clusterId": self.project["clusterId"],
            "noMaster": spec.pop("noMaster", False),
            "spec": {
                "image": DIGITS,
                "numWorkers": workers,
                "distributedFramework": "PyTorch",
                **spec,
            },
        }

    def act(self, workload: str, verb: str) -> None:
        self.send("POST", f"/workloads/distributed/{workload}/{verb}")

    def delete(self, workload: str) -> None:
        """Whatever its kind."""
        answer = self.send("POST", "/workloads/batch", {"ids": [workload], "action": "delete"})
        assert not answer["failed"], answer["failed"]

    def read(self, workload: str) -> Any:
        """The workload as the API has it; empty while nobody answers."""
        try:
            return self.send("GET", f"/workloads/{workload}")
        except httpx.TransportError:
            return {}

    def phase(self, workload: str) -> str:
        return str(self.read(workload).get("phase", ""))

    def pods(self, workload: str) -> list[Any]:
        return list(self.send("GET", f"/workloads/{workload}/pods")["pods"])

    def events(self, workload: str) -> list[Any]:
        """Oldest first."""
        return list(self.send("GET", f"/workloads/{workload}/events?limit=500")["events"])[::-1]

    def log(self, workload: str, rank: int = 0, **where: int) -> str:
        answer = self.http.get(f"/workloads/{workload}/logs", params={"rank": rank, **where})
        return answer.text

    def wait(self, workload: str, *phases: str, timeout: float = 60) -> str:
        """Wait until the workload is in one of these phases; the phase it is in."""
        wanted = set(phases)
        return (
            wait_for(
                lambda: (phase := self.phase(workload)) in wanted and phase,
                timeout,
                f"{workload} to become {' or '.join(phases)}",
                every=0.1,
            )
            or ""
        )
