"""Poll a cluster's nodes between two full checks, so that a failed node shows soon.

The nodes are read in a thread beside the watch, because reading those of a large cluster takes
seconds.
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
LONGEST_SHARE = 0.01  # of the time may be spent on polls, so thousands of nodes are read less often


class NodeReader(Thread):
    """Reads the nodes in a thread. ``nodes`` stays ``None`` if the cluster does not answer; the
    next full check says why. ``seconds`` is how long reading took."""

    def __init__(self, engine: Engine, cluster: str) -> None:
        super().__init__(daemon=True, name=f"nodes of {cluster}")
        self._engine = engine
        self._cluster = cluster
        self.nodes: tuple[NodeInfo, ...] | None = None
        self.seconds = 0.0

    def run(self) -> None:
        began = time.monotonic()
        try:
            self.nodes = self._engine.nodes()
        except EngineError as error:
            log.warning("The nodes of %s were not read: %s", self._cluster, error)
        finally:
            self.seconds = time.monotonic() - began


class NodePolls:
    """The polls of one watch. It begins after a full check, so the first poll is not due at
    once."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._due = time.monotonic() + EVERY_SECONDS
        self._reading: NodeReader | None = None

    def advance(self, cluster: Cluster) -> None:
        """Start a poll if one is due, or store the result of a finished one. This never waits for
        the cluster."""
        now = time.monotonic()
        if self._reading is None:
            if now >= self._due:
                self._reading = NodeReader(self._engine, str(cluster))
                self._reading.start()
        elif not self._reading.is_alive():
            finished = self._reading
            self._reading = None
            self._due = now + max(EVERY_SECONDS, finished.seconds / LONGEST_SHARE)
            if finished.nodes is not None:
                store_nodes(cluster, finished.nodes)


def store_nodes(cluster: Cluster, nodes: tuple[NodeInfo, ...]) -> None:
    """Store the nodes, unless the cluster's connection changed or the cluster was deleted
    meanwhile."""
    version = cluster.connection_version
    rows = Cluster.objects.filter(pk=cluster.pk, connection_version=version)
    with transaction.atomic():
        # The lock keeps the connection from changing while the nodes are stored.
        if rows.select_for_update(no_key=True).values_list("pk").first():
            store.store(cluster, nodes)
