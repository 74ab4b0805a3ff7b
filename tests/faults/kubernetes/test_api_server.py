"""The API server itself stands still for a minute while people submit, run and stop."""

import time

import pytest

from tests.faults.kubernetes.parts import api_server, stopped
from tests.faults.kubernetes.site import COUNT, ENDED, ENDLESS, Site
from tests.waiting import wait_for

pytestmark = [pytest.mark.faults, pytest.mark.kubernetes]

OUTAGE = 60.0  # seconds


def test_a_minute_without_the_api_server(site: Site) -> None:
    counting = site.running("counting", COUNT.replace("0.5", "2"))
    stopping = site.running("stopping", ENDLESS)
    resuming = site.running("resuming", ENDLESS)
    site.rest.act(resuming, "suspend")
    assert site.rest.wait(resuming, "Stopped") == "Stopped"
    with stopped(api_server(site.cluster)):
        over = time.monotonic() + OUTAGE
        fresh = site.submit("fresh", COUNT)
        site.rest.act(stopping, "suspend")
        site.rest.act(resuming, "resume")
        site.disconnects("does not answer", timeout=OUTAGE)
        assert "shaky is disconnected" in site.page(f"/workloads/{counting}/")
        phases = [site.rest.phase(one) for one in (counting, stopping, resuming, fresh)]
        assert phases == ["Running", "Stopping", "Resuming", "Creating"]
        wait_for(lambda: time.monotonic() > over, OUTAGE + 1, "a minute to pass", every=0.5)
    site.connects()
    site.ends_once(stopping, "Stopped")
    assert site.rest.wait(resuming, "Running", "Failed", timeout=ENDED) == "Running"
    for workload in (counting, fresh):
        site.ends_once(workload, "Completed")
        site.counted(workload)
    site.is_sound(resuming)
