"""What the pages show for curl works as it is pasted: a key, a token with it, a submission."""

import shutil
import subprocess
from html import unescape

import pytest
from pytest_django.live_server_helper import LiveServer

from tests.workloads.wizard.browser import Wizard
from workloads.models import Workload

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.usefixtures("valkey"),  # which counts sign-ins of other tests from this address
    pytest.mark.skipif(not (shutil.which("curl") and shutil.which("bash")), reason="no curl here"),
]


def shown(page: str, name: str) -> str:
    return unescape(page.split(f'id="{name}"')[1].split(">", 1)[1].split("</pre>")[0])


def pasted(*commands: str) -> str:
    """What a shell prints of these, one after the other."""
    script = "\n".join(commands)
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],  # noqa: S607 -- whichever bash people have
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert not done.stderr
    return done.stdout


def test_the_commands_that_pages_show_submit_the_workload_of_the_wizard(
    wizard: Wizard, live_server: LiveServer
) -> None:
    browser = wizard.client
    host = live_server.url.removeprefix("http://")
    asked = {"name": "laptop", "lives": "7", "covers": "everything"}
    key = browser.post("/access-keys/new/", asked, headers={"host": host})
    page = key.content.decode()
    sign_in = shown(page, "sign-in-command")
    try_out = shown(page, "try-command")
    wizard.ready()
    form = browser.get(wizard.at(2), headers={"host": host}).content.decode()
    printed = pasted(sign_in, try_out, shown(form, "summary-curl"), try_out)
    workload = Workload.objects.get(name="train")
    assert workload.created_by == wizard.user
    assert printed.count(str(workload.pk)) == 2, "in the answer and in the list after it"
