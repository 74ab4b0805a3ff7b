"""How the nodes of a cluster are, between two whole looks at it.

So a node that falls silent shows soon. They are read beside the watch, for a large cluster takes
seconds to tell of its nodes.
"""

import logging
import time
from threading import Thread

from django.db import transaction

from clusters.models import Cluster
from clusters.nodes import store
from engines.base import Engine, EngineError
from engines.nodes import NodeInfo

log = logging.getLogger(__name__)

EVERY_SECONDS = 10.0
SHARE = 0.01  # of the time, at most, goes into it: less often where a cluster has thousands


class Reading(Thread):
    """``found`` stays ``None`` where the cluster told nothing; the next whole look says why.
    ``took`` is in seconds."""

    def __init__(self, engine: Engine, cluster: str) -> None:
        super().__init__(daemon=True, name=f"nodes of {cluster}")
        self._engine, self._cluster = engine, cluster
        self.nodes: tuple[NodeInfo, ...] | None = None
        self.took = 0.0

    def run(self) -> None:
        began = time.monotonic()
        try:
            self.nodes = self._engine.nodes()
        except EngineError as error:
            log.warning("The nodes of %s were not read: %s", self._cluster, error)
        finally:
            self.took = time.monotonic() - began


class Glances:
    """Those of one watch, which begins after a whole look."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._due = time.monotonic() + EVERY_SECONDS
        self._reading: Reading | None = None

    def go_on(self, cluster: Cluster) -> None:
        """Begin one that is due, or write down what one found. Never waits for the cluster."""
        now = time.monotonic()
        if self._reading is None:
            if now >= self._due:
                self._reading = Reading(self._engine, str(cluster))
                self._reading.start()
        elif not self._reading.is_alive():
            done, self._reading = self._reading, None
            self._due = now + max(EVERY_SECONDS, done.took / SHARE)
            if done.nodes is not None:
                keep(cluster, done.nodes)


def keep(cluster: Cluster, nodes: tuple[NodeInfo, ...]) -> None:
    """Unless the cluster is reached in another way since, or was deleted."""
    version = cluster.connection_version
    same = Cluster.objects.filter(pk=cluster.pk, connection_version=version)
    with transaction.atomic():
        if same.select_for_update(no_key=True).values_list("pk").first():
            store.store(cluster, nodes)
