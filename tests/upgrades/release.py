"""``python -m tests.upgrades.release``: write the database of this version, for tests of upgrades.

Run it once for each release, on the commit that is released. It starts the product with a new data
folder, submits a training, waits for its end, and writes the rows as SQL to ``<version>.sql``.
Sessions and secrets are left out.
"""

import socket
import sqlite3
import sys
import tempfile
from pathlib import Path

import httpx

from tests.product import PASSWORD, Trainyard
from tests.waiting import wait_for
from trainyard_cli import __version__

FOLDER = Path(__file__).parent
#: Tables whose rows are secrets, or mean nothing without the data folder that they came from.
LEFT_OUT = ("django_session", "accounts_keptanswer")
TRAINING = {
    "image": "kubeflow/pytorch-dist-mnist:latest",
    "numWorkers": 1,
    "distributedFramework": "PyTorch",
    "compute": {
        "gpuDevicesRequest": 1,
        "gpuRequestType": "portion",
        "gpuPortionRequest": 0.1,
        "cpuCoreRequest": 0.1,
        "cpuMemoryRequest": "100M",
    },
}


def main() -> int:
    with tempfile.TemporaryDirectory(prefix="trainyard-") as folder:
        product = Trainyard(Path(folder))
        product.start()
        try:
            run_training(product)
        finally:
            product.stop()
        with sqlite3.connect(product.home / "trainyard.sqlite3") as database:
            for table in LEFT_OUT:
                database.execute(f"DELETE FROM {table}")  # noqa: S608 -- names of ours
            statements = list(database.iterdump())
    text = "\n".join(statements).replace(folder, "/data").replace(socket.gethostname(), "machine")
    (FOLDER / f"{__version__}.sql").write_text(text + "\n")
    return 0


def run_training(product: Trainyard) -> None:
    """Submit a training and wait until it is Completed."""
    with httpx.Client(base_url=f"{product.url}/api/v1", timeout=30) as rest:
        credentials = {"grantType": "password", "username": "admin", "password": PASSWORD}
        token = rest.post("/token", json=credentials).json()["accessToken"]
        rest.headers["Authorization"] = f"Bearer {token}"
        (cluster,) = rest.get("/clusters").json()
        (project,) = rest.get("/org-unit/projects").json()["projects"]
        request = {
            "name": "from-this-release",
            "projectId": project["id"],
            "clusterId": cluster["uuid"],
            "spec": TRAINING,
        }
        workload = rest.post("/workloads/distributed", json=request).raise_for_status().json()
        address = f"/workloads/{workload['workloadId']}"
        wait_for(lambda: rest.get(address).json()["phase"] == "Completed", 180, "the training")


if __name__ == "__main__":
    sys.exit(main())
