"""Policies from files: applied, read and deleted, with problems at their lines."""

from pathlib import Path

import pytest

from accounts.access import ACCOUNT
from accounts.models import User
from accounts.permissions import ADMINISTRATOR
from policies.models import Policy
from projects.models import Project
from tests.factories import give
from tests.policies.examples import make_policy, rule
from tests.trainyard_cli.terminal import Terminal

FILE = """\
type: distributed
meta:
  name: limits
policy:
  rules:
    worker:
      numWorkers:
        max: 8
        why: A rack has 8 nodes
"""


@pytest.fixture
def administrator(researcher: User) -> User:
    give(researcher, ADMINISTRATOR.name, ACCOUNT)
    return researcher


@pytest.mark.usefixtures("administrator")
def test_a_policy_is_applied_read_and_deleted(
    terminal: Terminal, project: Project, tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(FILE)
    assert "nothing was saved" in terminal(f"policy apply -f {file} --dry-run").err
    assert not Policy.objects.exists()
    terminal(f"policy apply -f {file}")
    assert terminal("policy list --no-headers").rows[0][:3] == ["limits", "distributed", "project"]
    file.write_text(terminal("policy get distributed").out)
    terminal(f"policy apply -f {file}")
    assert Policy.objects.get(project=project).tree == rule(
        "numWorkers", max=8, why="A rack has 8 nodes"
    )
    terminal(f"policy delete -f {file}")
    assert not Policy.objects.exists()


@pytest.mark.usefixtures("administrator")
def test_a_refused_policy_names_the_lines_of_its_problems(
    terminal: Terminal, tmp_path: Path
) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(FILE.replace("max: 8", "max: many").replace("why:", "reason:"))
    refused = terminal(f"policy apply -f {file}", code=1).err
    assert "line 8: policy.rules.worker.numWorkers.max: must be a whole number" in refused
    assert "line 9: policy.rules.worker.numWorkers.reason: is not known here" in refused


@pytest.mark.usefixtures("administrator")
def test_a_policy_that_refuses_everything_is_simulated_and_confirmed(
    terminal: Terminal, tmp_path: Path
) -> None:
    terminal("training pytorch submit wide --image x:1 --workers 3 --cpu 0.1")
    file = tmp_path / "policy.yaml"
    file.write_text(FILE.replace("max: 8", "max: 2"))
    simulated = terminal(f"policy simulate -f {file} --no-headers")
    assert simulated.rows[0][:2] == ["wide", "refused"]
    assert "1 refused, 0 changed, 0 unchanged" in simulated.err
    assert "refuses all" in terminal(f"policy apply -f {file}", code=1).err
    assert not Policy.objects.exists()
    terminal(f"policy apply -f {file} --confirm")
    assert Policy.objects.exists()


def test_effective_rules_name_their_policy(terminal: Terminal, project: Project) -> None:
    make_policy(None, rule("numWorkers", max=8), name="house")
    assert "no policy of its own" in terminal("policy get distributed").err
    (row,) = terminal("policy get distributed --effective").rows[1:]
    assert row[:5] == ["numWorkers", "max", "8", "tenant", "house"]
