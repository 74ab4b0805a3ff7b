"""Every address of the product's pages, in a running copy that has one of everything.

``manage.py shell`` of that copy prints ``described``. The user who created everything administers
it.
"""

import json

from django.db import transaction
from django.utils import timezone

from accounts.access import ACCOUNT
from accounts.permissions import ADMINISTRATOR
from clusters.models import Cluster, Connection, ConnectionTest
from tests.access.asking import pages
from tests.access.population import build
from tests.factories import WorkloadFactory, give
from tests.product import Trainyard
from tests.workloads.nowhere import KUBECONFIG

AUTHOR = "author"
LOCAL = "local"
PURGE = "workloads/<uuid:pk>/purge/"  # a workload that was deleted
COMPARE = "workloads/compare/"
COMMAND = "from tests.e2e.every_page import described; print(described())"


@transaction.atomic  # or the worker could ask for its nodes too early
def described() -> str:
    """Create one of everything, and return an address for each route as JSON."""
    place = build()
    author = place.people[AUTHOR]
    assert author
    give(author, ADMINISTRATOR.name, ACCOUNT)
    _nobody_asks()
    ConnectionTest.objects.update(asked_by=author)
    gone = WorkloadFactory.create(
        project=place.project, created_by=author, completed=True, deleted_at=timezone.now()
    )
    addresses = {path: place.address(f"/{path}") for path in pages()}
    addresses[PURGE] = f"/workloads/{gone.pk}/purge/"
    addresses[COMPARE] = f"/workloads/compare/?ids={place.workload.pk},{gone.pk}"
    return json.dumps(addresses)


def _nobody_asks() -> None:
    """Make all other clusters unreachable: if this machine answered for them, its own nodes would
    replace theirs."""
    for cluster in Cluster.objects.exclude(name=LOCAL):
        cluster.kind = "kubernetes"
        cluster.save()
        Connection.objects.create(cluster=cluster, secret_json=KUBECONFIG)


def everything(trainyard: Trainyard) -> dict[str, str]:
    """Return an address for each route, by the route. ``AUTHOR`` signs in with the PASSWORD of
    factories."""
    addresses: dict[str, str] = json.loads(
        trainyard.manage("shell", "--command", COMMAND).splitlines()[-1]
    )
    return addresses
