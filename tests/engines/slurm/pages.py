"""What people see of a workload that a test gives to Slurm: its page, once a worker has looked."""

import html
import re
from contextlib import suppress
from dataclasses import dataclass

from django.test import Client

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
    project: Project
    browser: Client
    rig: SlurmRig

    def show(self, launched: Launch) -> Workload:
        """Its row, which Trainyard has of it; made at the first call, as a submission makes it."""
        uid = launched.handle.workload_id
        row = Workload.objects.filter(pk=uid).first()
        return row or WorkloadFactory(
            pk=uid, project=self.project, spec_json=documents.dump(launched.spec)
        )

    def hand_over(self, launched: Launch) -> None:
        """As the worker does it, which says on the page what keeps a workload back."""
        self.show(launched)
        self._connect()
        with suppress(EngineUnavailable):
            dispatch.hand_over(self.project.cluster)

    def look(self, launched: Launch) -> None:
        """As the worker's watch does it."""
        self.show(launched)
        with suppress(EngineUnavailable):
            if shown := self.rig.engine.observe(launched.handle):
                monitor.observed(shown)

    def text(self, launched: Launch) -> str:
        """Of its page, once the worker looked at it and its cluster."""
        self._connect()
        if services.refresh(self.project.cluster):
            self.look(launched)
        return self.shown(launched)

    def shown(self, launched: Launch) -> str:
        """Of its page as it is."""
        row = self.show(launched)
        return _words(self.browser.get(row.get_absolute_url()).content)

    def of_cluster(self) -> str:
        """What an administrator reads of the connection, once the worker looked."""
        self._connect()
        services.refresh(self.project.cluster)
        address = f"{self.project.cluster.get_absolute_url()}connection/"
        boss = signed_in(UserFactory(administrator=True))
        return _words(boss.get(address).content)

    def _connect(self) -> None:
        cluster = self.project.cluster
        connections._engines[cluster.pk] = cluster.connection_version, self.rig.engine


def _words(page: bytes) -> str:
    words = re.sub(r"<[^>]+>", " ", page.decode())
    return " ".join(html.unescape(words).split())
