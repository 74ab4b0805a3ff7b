"""The worker dies at the worst moments of a submission, and there are two of them."""

import subprocess
from collections.abc import Iterator
from functools import partial

import pytest

from config.run.install import ROOT
from config.run.programs import table as programs
from tests.faults.kubernetes.site import COUNT, ENDED, ENDLESS, NAMESPACE, Site
from tests.waiting import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.kubernetes]

JOBS = f"/namespaces/{NAMESPACE}/pytorchjobs"


def test_a_worker_killed_between_secret_and_job_makes_one_of_each(site: Site) -> None:
    site.proxy.trap("POST", JOBS, partial(site.trainyard.kill, "worker"))
    secret = [{"name": "API_TOKEN", "value": "not for everybody"}]
    counting = site.submit("counting", COUNT, environmentVariables=secret)
    wait_for(lambda: not site.proxy.is_armed, 60, "the worker to be killed")
    site.ends_once(counting, "Completed")
    site.counted(counting)
    assert len(site.cluster.secrets(counting)) == 1


def test_a_worker_killed_before_the_job_is_known_makes_no_second_one(site: Site) -> None:
    """The job is there, and nobody knows but the cluster."""
    site.proxy.trap("POST", JOBS, partial(site.trainyard.kill, "worker"), after=True)
    counting = site.submit("counting", COUNT)
    wait_for(lambda: not site.proxy.is_armed, 60, "the worker to be killed")
    site.ends_once(counting, "Completed")
    site.counted(counting)
    assert site.rest.read(counting)["run"] == 1


def test_a_worker_killed_at_a_stop_stops_it(site: Site) -> None:
    stopping = site.running("stopping", ENDLESS)
    site.proxy.trap("PATCH", JOBS, partial(site.trainyard.kill, "worker"), after=True)
    site.rest.act(stopping, "suspend")
    wait_for(lambda: not site.proxy.is_armed, 60, "the worker to be killed")
    site.ends_once(stopping, "Stopped")
    site.rest.act(stopping, "resume")
    site.rest.wait(stopping, "Running")
    site.is_sound(stopping)


def test_a_worker_killed_at_a_delete_leaves_nothing(site: Site) -> None:
    deleted = site.running("deleted", ENDLESS)
    site.proxy.trap("DELETE", JOBS, partial(site.trainyard.kill, "worker"))
    site.rest.delete(deleted)
    wait_for(lambda: not site.proxy.is_armed, 60, "the worker to be killed")
    gone = partial(nothing_left, site, deleted)
    # The cluster's garbage collector watches again up to a minute after the API server was away.
    wait_for(gone, ENDED, "the job and its pods to be gone", every=0.2)


def nothing_left(site: Site, workload: str) -> bool:
    return not site.cluster.jobs(workload) and not site.cluster.pods(workload)


@pytest.fixture
def second_worker(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    """One more, as a person who scales up would start it."""
    with (site.trainyard.home / "second-worker.log").open("wb") as log:
        process = subprocess.Popen(
            [*programs.worker_program().argv, "--hostname", "second@%h"],
            cwd=ROOT,
            env=site.trainyard.environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    yield process
    process.kill()
    process.wait(10)


def test_two_workers_do_everything_once(site: Site, second_worker: subprocess.Popen[bytes]) -> None:
    log = site.trainyard.home / "second-worker.log"
    wait_for(lambda: "ready" in log.read_text(), 60, "the second worker")
    counting = [site.submit(f"counting-{n}", COUNT) for n in range(3)]
    stopping = site.running("stopping", ENDLESS)
    site.rest.act(stopping, "suspend")
    site.trainyard.kill("worker")
    site.ends_once(stopping, "Stopped")
    for workload in counting:
        site.ends_once(workload, "Completed")
        site.counted(workload)
    assert second_worker.poll() is None
