"""What the cluster itself needs stands still: the workload says so, REST does, and the cluster."""

import pytest

from tests.faults.kubernetes.parts import part, stopped
from tests.faults.kubernetes.site import Site
from tests.waiting import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.kubernetes]
SOON = 30  # seconds


def message(site: Site, workload: str) -> str:
    rows = site.rest.send("GET", "/workloads")["workloads"]
    (row,) = [row for row in rows if row["id"] == workload]
    return str(row["phaseMessage"])


@pytest.mark.parametrize(
    ("program", "title"),
    [
        ("kube-scheduler", "The scheduler "),
        ("--pytorch-init-container-image", "The admission webhook "),  # the training operator
    ],
)
def test_a_stopped_part_of_the_cluster_is_reported_within_half_a_minute(
    site: Site, program: str, title: str
) -> None:
    with stopped(part(site.cluster, program)):
        workload = site.submit("waits", "true")

        def is_told() -> bool:
            said = message(site, workload)
            (state, words) = site.state()
            named = title in said and "does not answer" in said
            return named and state == "ServiceIssues" and title in words

        saying = "the workload and the cluster to say so"
        wait_for(is_told, SOON, saying, every=0.2, exact=True)
        assert title in site.page(f"/workloads/{workload}/")
    site.ends_once(workload, "Completed")
