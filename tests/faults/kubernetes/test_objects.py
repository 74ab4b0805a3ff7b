"""What the cluster loses: a pod, a node, a namespace, its memory of what changed."""

from functools import partial

import pytest

from tests.faults.kubernetes.parts import forget_the_past, kubelet, stopped
from tests.faults.kubernetes.site import COUNT, ENDED, ENDLESS, NAMESPACE, Site
from tests.rest import ENDS
from tests.waiting import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.kubernetes]


def test_a_pod_deleted_under_a_running_job_is_told(site: Site) -> None:
    workload = site.running("loses-a-pod", ENDLESS, backoffLimit=3)
    before = [pod["metadata"]["uid"] for pod in site.cluster.pods(workload)]
    site.cluster.delete_pod(site.cluster.pods(workload)[1])
    wait_for(lambda: "Degraded" in site.history(workload), 60, "it to be Degraded", every=0.2)
    assert site.rest.wait(workload, "Running", *ENDS, timeout=ENDED) == "Running"
    after = [pod["metadata"]["uid"] for pod in site.cluster.pods(workload)]
    assert len(set(before) & set(after)) == 1
    site.is_sound(workload)


def test_a_namespace_deleted_under_its_workloads_is_told_and_made_again(site: Site) -> None:
    lost = site.running("lost", ENDLESS)
    site.cluster.api.delete(f"/api/v1/namespaces/{NAMESPACE}")
    assert site.rest.wait(lost, *ENDS, timeout=ENDED) == "Failed"
    assert f"namespace {NAMESPACE} was deleted" in site.rest.events(lost)[-1]["message"]
    assert {rank["exitCode"] for rank in site.rest.pods(lost)} == {None}
    site.never_went_back(lost)
    fresh = site.submit("fresh", COUNT)
    site.ends_once(fresh, "Completed")
    site.counted(fresh)
    assert not site.cluster.jobs(lost)


def test_an_unseen_backoff_limit_leaves_the_exit_code_as_cause(site: Site) -> None:
    """The operator removes the pods, and another worker finds the job without them."""
    failing = site.submit("failing", "echo I fail; sleep 1; exit 5", backoffLimit=3)

    def has_failed_once() -> bool:
        return any(rank["exitCode"] == 5 for rank in site.rest.pods(failing))

    wait_for(has_failed_once, 60, "the first failure", every=0.1)
    site.proxy.hold()
    wait_for(lambda: not site.cluster.pods(failing), 90, "its operator to give up", every=0.2)
    site.trainyard.kill("worker")
    site.proxy.heal()
    site.ends_once(failing, "Failed")
    assert "exited with code 5" in site.rest.events(failing)[-1]["message"]
    assert 5 in {rank["exitCode"] for rank in site.rest.pods(failing)}
    assert "I fail" in site.rest.log(failing, 0)


def test_a_node_that_falls_silent_is_told_and_comes_back(site: Site) -> None:
    """Silent for longer than the 40 s after which Kubernetes calls a node not ready."""
    steady = site.running("steady", ENDLESS)
    with stopped(kubelet(site.cluster)):
        wait_for(partial(is_ready, site, False), 120, "the node to be called not ready", every=0.5)
        assert site.rest.phase(steady) in {"Running", "Degraded"}
    wait_for(partial(is_ready, site, True), 120, "the node to be ready", every=0.5)
    assert site.rest.wait(steady, "Running", *ENDS, timeout=ENDED) == "Running"
    site.rest.act(steady, "suspend")
    site.ends_once(steady, "Stopped")


def is_ready(site: Site, ready: bool) -> bool:
    """What the product says of the only node."""
    page = site.nodes_page()
    return ("NotReady" in page or "Unknown" in page) is not ready


def test_a_server_that_forgot_the_past_is_listed_again(site: Site) -> None:
    """etcd is compacted and the API server starts anew while the watches hear nothing; then they
    ask to go on from a version that is gone, which the server answers with 410."""
    counting = site.running("counting", COUNT)
    stopping = site.running("stopping", ENDLESS)
    site.proxy.hold()
    site.rest.act(stopping, "suspend")
    wait_for(lambda: not site.cluster.pods(stopping), 60, "its pods to be gone", every=0.2)
    forget_the_past(site.cluster)
    site.proxy.heal()
    site.ends_once(stopping, "Stopped")
    site.ends_once(counting, "Completed")
    site.counted(counting)
