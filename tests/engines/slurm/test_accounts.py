"""Accounts and their limits are read from what sacctmgr prints, and shown as findings."""

import pytest

from engines.findings import Level
from engines.partitions import BillingAccount, JobLimits, ServiceLevel
from engines.slurm.cluster import accounts
from engines.slurm.cluster.checks import check_limits
from engines.slurm.script.directives import options
from engines.slurm.script.site import SlurmSite
from tests.engines.contract import launch

LOOKED = {
    "own": ["vision|normal,low", "speech|normal", "vision|high"],
    "limit": [
        "root|||||||",
        "vision|gres/gpu=6,cpu=8,mem=4G|2||node=1||9|1-00:00:00",
        "speech|||||||",
    ],
    "config": ["EnforcePartLimits       = ALL"],
}


def test_limits_are_said_in_words() -> None:
    said = accounts.read_limits(LOOKED["limit"])
    assert said["vision"].startswith(
        "6 GPUs, 8 CPUs, 4G of memory at once; 2 jobs running; 1 nodes"
    )
    assert "9 jobs of each user, waiting ones" in said["vision"]
    assert said["speech"] == ""


def test_the_most_that_one_job_can_get_is_known_for_each_account() -> None:
    own = ["vision|normal,low||||cpu=4|||", "vision|high||||||"]
    found = {it.name: it for it in accounts.parse_accounts(LOOKED["limit"], own, "vision")}
    assert list(found) == ["root", "vision", "speech"]
    vision = found["vision"]
    assert (vision.is_default, vision.is_own, vision.qos) == (True, True, ("high", "low", "normal"))
    assert vision.most == JobLimits(gpus=6, cpus=4, memory=4096, nodes=1, seconds=86_400)
    assert found["speech"] == BillingAccount("speech")
    assert accounts.parse_service_levels(["normal|||", "capped|gres/gpu=4|gres/gpu=1|1:00:00"]) == (
        ServiceLevel("normal"),
        ServiceLevel("capped", JobLimits(gpus=1, seconds=3600)),
    )


def test_the_accounts_of_our_user_are_findings() -> None:
    found = {it.name: it for it in check_limits(SlurmSite("/shared", account="vision"), LOOKED)}
    assert set(found) == {"Account vision", "Account speech", "QOS", "EnforcePartLimits"}
    assert found["Account speech"].text == "No limits"
    assert found["QOS"].text.startswith("high, low, normal.")


def test_an_account_that_our_user_has_not_is_missing() -> None:
    (first, *_) = check_limits(SlurmSite("/shared", account="physics"), LOOKED)
    assert (first.level, first.name) == (Level.MISSING, "Account physics")
    assert "only with speech, vision" in first.text


def test_accounts_of_projects_without_an_association_are_issues() -> None:
    site = SlurmSite("/shared", accounts={"team-a": "vision", "team-b": "physics"})
    findings = {it.name: it for it in check_limits(site, LOOKED)}
    assert findings["Account vision"].text.endswith("for team-a")
    assert findings["Account physics"].level is Level.ISSUE
    assert "The project team-b cannot run here" in findings["Account physics"].text


def test_a_job_is_charged_to_the_account_of_its_project() -> None:
    launched = launch("true")
    for accounts_of, charged in (({"team-a": "vision"}, "vision"), ({"other": "x"}, "main")):
        site = SlurmSite("/shared", account="main", accounts=accounts_of)
        assert dict(options(launched, site))["account"] == charged


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (("SelectTypeParameters = CR_CORE_MEMORY", "DefMemPerNode = UNLIMITED"), True),
        (("SelectTypeParameters = CR_CORE_MEMORY", "DefMemPerCPU = 500"), False),
        (("SelectTypeParameters = CR_CORE", "DefMemPerNode = UNLIMITED"), False),
    ],
)
def test_jobs_that_would_get_all_memory_of_their_nodes_are_reported(
    settings: tuple[str, ...], *, said: bool
) -> None:
    found = check_limits(SlurmSite("/shared"), {"config": list(settings)})
    assert [it.name for it in found] == ["DefMemPerCPU"] * said


def test_where_nothing_is_known_nothing_is_said() -> None:
    assert list(check_limits(SlurmSite("/shared", account="physics"), {})) == []
