"""Every address of the product's pages, in a running copy that has one of everything.

``manage.py shell`` of that copy prints ``described``; whoever made what there is administers it.
"""

import json

from django.db import transaction
from django.utils import timezone

from accounts.access import ADMINISTRATOR
from clusters.models import Cluster, Connection, ConnectionTest
from tests.access.asking import pages
from tests.access.place import build
from tests.factories import WorkloadFactory
from tests.product import Trainyard
from tests.workloads.nowhere import KUBECONFIG

AUTHOR, LOCAL = "author", "local"
PURGE = "workloads/<uuid:pk>/purge/"  # of one that was deleted
COMMAND = "from tests.e2e.every_page import described; print(described())"


@transaction.atomic  # or its nodes are looked for before nobody can
def described() -> str:
    place = build()
    author = place.people[AUTHOR]
    assert author
    author.role = ADMINISTRATOR.name
    author.save()
    _nobody_asks()
    ConnectionTest.objects.update(asked_by=author)
    gone = WorkloadFactory.create(
        project=place.project, created_by=author, completed=True, deleted_at=timezone.now()
    )
    addresses = {path: place.address(f"/{path}") for path in pages()}
    addresses[PURGE] = f"/workloads/{gone.pk}/purge/"
    return json.dumps(addresses)


def _nobody_asks() -> None:
    """Who asked this machine for the place's nodes would replace them by its own."""
    for cluster in Cluster.objects.exclude(name=LOCAL):
        cluster.kind = "kubernetes"
        cluster.save()
        Connection.objects.create(cluster=cluster, secret_json=KUBECONFIG)


def everything(trainyard: Trainyard) -> dict[str, str]:
    """An address for each route, by the route; AUTHOR signs in with the PASSWORD of factories."""
    addresses: dict[str, str] = json.loads(
        trainyard.manage("shell", "--command", COMMAND).splitlines()[-1]
    )
    return addresses
