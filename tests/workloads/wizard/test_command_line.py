"""The command line that the wizard shows: pasted, it stores what CREATE TRAINING stores."""

from html import unescape
from pathlib import Path
from typing import Any

import pytest
import redis
from pytest_django.live_server_helper import LiveServer

from tests.factories import PASSWORD
from tests.trainyard_cli.terminal import Terminal
from tests.workloads.wizard.browser import Wizard
from workloads.models import Workload

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def terminal(
    wizard: Wizard, live_server: LiveServer, tmp_path: Path, valkey: redis.Redis
) -> Terminal:
    terminal = Terminal(live_server.url, tmp_path / "config.json")
    terminal.sign_in(wizard.user.username, PASSWORD)
    return terminal


def shown(page: str) -> str:
    text = page.split('id="summary-line"')[1].split(">", 1)[1].split("</pre>")[0]
    return unescape(text).replace("\\\n", "").removeprefix("trainyard ")


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"numWorkers": "3", "backoffLimit": "1"},
        {"worker-args": "--epochs 3 --name 'a b'", "worker-command": "python -m train"},
    ],
)
def test_the_line_stores_the_spec_that_the_form_stores(
    wizard: Wizard, terminal: Terminal, more: dict[str, Any]
) -> None:
    wizard.ready()
    wizard.save(2, **more)
    line = shown(wizard.open(wizard.at(2)).page)
    terminal(line.replace("submit train", "submit pasted"))
    wizard.open(wizard.at(3)).press("create")
    by_form, by_line = (Workload.objects.get(name=name) for name in ("train", "pasted"))
    assert by_line.spec_json == by_form.spec_json
