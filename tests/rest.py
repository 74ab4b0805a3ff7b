"""A caller of the REST API of a running product."""

from typing import Any, Protocol, Self

import httpx

from tests.waiting import wait_for

DIGITS = "kubeflow/pytorch-dist-mnist:latest"
ENDS = {"Completed", "Failed", "Stopped"}


class Server(Protocol):
    """A running product, and its administrator."""

    @property
    def url(self) -> str: ...
    @property
    def username(self) -> str: ...
    @property
    def password(self) -> str: ...


class Rest:
    """Calls REST as the administrator. Workloads go to ``project``, or else to the first one."""

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
        """Return the JSON of a call. Fails if the call does."""
        answer = self.http.request(method, path, json=body)
        assert answer.is_success, f"{method} {path}: {answer.status_code} {answer.text}"
        return answer.json()

    def submit(self, name: str, *, workers: int = 2, **spec: Any) -> str:
        """Submit a training on the digits, and return its id. ``spec`` overrides fields of its
        spec."""
        body = self.document(name, workers=workers, **spec)
        return str(self.send("POST", "/workloads/distributed", body)["workloadId"])

    def document(self, name: str, *, workers: int = 2, **spec: Any) -> dict[str, Any]:
        """Return the body of a submission."""
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
        """Call a verb of a workload, such as ``suspend``."""
        self.send("POST", f"/workloads/distributed/{workload}/{verb}")

    def delete(self, workload: str) -> None:
        """Delete a workload of any kind."""
        answer = self.send("POST", "/workloads/batch", {"ids": [workload], "action": "delete"})
        assert not answer["failed"], answer["failed"]

    def delete_all(self) -> None:
        """Delete all workloads, in one call."""
        if ids := [row["id"] for row in self.send("GET", "/workloads")["workloads"]]:
            answer = self.send("POST", "/workloads/batch", {"ids": ids, "action": "delete"})
            assert not answer["failed"], answer["failed"]

    def read(self, workload: str) -> Any:
        """Return the workload from REST; empty while nothing answers."""
        try:
            return self.send("GET", f"/workloads/{workload}")
        except httpx.TransportError:
            return {}

    def phase(self, workload: str) -> str:
        return str(self.read(workload).get("phase", ""))

    def pods(self, workload: str) -> list[Any]:
        return list(self.send("GET", f"/workloads/{workload}/pods")["pods"])

    def events(self, workload: str) -> list[Any]:
        """Return the workload's events, the oldest first."""
        return list(self.send("GET", f"/workloads/{workload}/events?limit=500")["events"])[::-1]

    def log(self, workload: str, rank: int = 0, **where: int) -> str:
        """Return the log of one rank."""
        answer = self.http.get(f"/workloads/{workload}/logs", params={"rank": rank, **where})
        return answer.text

    def wait(self, workload: str, *phases: str, timeout: float = 60) -> str:
        """Wait until the workload is in one of these phases, and return its phase."""
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
