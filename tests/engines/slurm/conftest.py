"""A real Slurm for the tests of this folder. Without one, they are skipped and say why."""

from collections.abc import Iterator

import pytest

from clusters import connections
from engines.findings import Finding, Level
from engines.slurm.client.transport import TIMEOUT
from engines.slurm.cluster import checks
from engines.slurm.cluster.trial import NODES
from engines.slurm.queue import reader
from tests.engines.slurm.pages import Pages
from tests.engines.slurm.rig import SlurmRig
from tests.engines.slurm.watched import WatchedSite
from tests.factories import ProjectFactory, UserFactory
from tests.slurm_testbed import NO_SLURM, Testbed
from tests.web import signed_in


@pytest.fixture(scope="session")
def testbed() -> Testbed:
    found = Testbed.running()
    if found is None:
        pytest.skip(NO_SLURM)
    return found


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slurm is slow if the machine is busy with other tests. Asking it less often then would only
    make these take longer. That it is asked less often has a test of its own."""
    monkeypatch.setattr(reader, "SLOW", TIMEOUT)


@pytest.fixture
def rig(testbed: Testbed) -> Iterator[SlurmRig]:
    found = SlurmRig(testbed)
    yield found
    found.clean()


@pytest.fixture
def watched(rig: SlurmRig) -> Iterator[WatchedSite]:
    """A watch that runs during the test, and is checked at its end."""
    site = WatchedSite(rig)
    yield site
    site.check()


@pytest.fixture
def pages(
    db: None, valkey: object, sent: object, rig: SlurmRig, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Pages]:
    """The pages of a project on that Slurm. Only the test itself makes Trainyard look at it."""
    fine = Finding(NODES, "Test job", Level.OK, "not run in tests")
    monkeypatch.setattr(checks, "try_job", lambda *_: (fine,))
    member = UserFactory()
    project = ProjectFactory(members=[member])
    cluster = project.cluster
    cluster.kind = "slurm"
    cluster.settings_json = {"directory": rig.site.directory}
    cluster.capabilities_json |= {"queues": True}
    cluster.save()
    yield Pages(project, member, signed_in(member), rig)
    connections.forget_engines()
