"""Shows what people see of a workload that a test gives to Slurm: its page, once a worker has
looked."""

import html
import re
from contextlib import suppress
from dataclasses import dataclass

from django.test import Client

from accounts.models import User
from clusters import connections, services
from engines.base import EngineUnavailable, Launch
from projects.models import Project
from spec.formats import documents
from tests.engines.slurm.rig import SlurmRig
from tests.factories import UserFactory, WorkloadFactory
from tests.web import signed_in
from workloads.models import Workload
from workloads.worker import dispatch, monitor


@dataclass
class Pages:
    """The pages of a project on the cluster of ``rig``."""

    project: Project
    member: User
    browser: Client
    rig: SlurmRig

    def show(self, launched: Launch) -> Workload:
        """Return the row of a workload. The first call creates it, as a submission does."""
        uid = launched.handle.workload_id
        row = Workload.objects.filter(pk=uid).first()
        return row or WorkloadFactory(
            pk=uid, project=self.project, spec_json=documents.dump_spec(launched.spec)
        )

    def hand_over(self, launched: Launch) -> None:
        """Submit pending workloads as the worker does, which puts on the page what holds
        one back."""
        self.show(launched)
        self.connect()
        with suppress(EngineUnavailable):
            dispatch.hand_over(self.project.cluster)

    def look(self, launched: Launch) -> None:
        """Store what Slurm shows of a workload, as the worker's watch does."""
        self.show(launched)
        with suppress(EngineUnavailable):
            if shown := self.rig.engine.observe(launched.handle):
                monitor.apply_observation(shown)

    def text(self, launched: Launch) -> str:
        """Return the text of its page, once the worker has looked at the workload and its
        cluster."""
        self.connect()
        if services.refresh(self.project.cluster):
            self.look(launched)
        return self.shown(launched)

    def shown(self, launched: Launch) -> str:
        """Return the text of its page as it is now."""
        row = self.show(launched)
        return _words(self.browser.get(row.get_absolute_url()).content)

    def of_cluster(self) -> str:
        """Return what an administrator reads about the connection, once the worker has looked."""
        self.connect()
        services.refresh(self.project.cluster)
        address = f"{self.project.cluster.get_absolute_url()}connection/"
        browser = signed_in(UserFactory(administrator=True))
        return _words(browser.get(address).content)

    def connect(self) -> None:
        """Have Trainyard talk to the cluster by the engine of ``rig``."""
        cluster = self.project.cluster
        connections._engines[cluster.pk] = cluster.connection_version, self.rig.engine


def _words(page: bytes) -> str:
    words = re.sub(r"<[^>]+>", " ", page.decode())
    return " ".join(html.unescape(words).split())
