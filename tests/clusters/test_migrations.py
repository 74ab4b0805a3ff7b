"""What columns held of a Kubernetes cluster becomes the settings and the secret of its kind."""

import json
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from core.database.fields import encrypt

COLUMNS = {"namespace_prefix": "ml-", "ingress_domain": "", "ingress_class": "nginx"}
BEFORE, AFTER = ("clusters", "0001_initial"), ("clusters", "0002_connections_by_kind")
pytestmark = pytest.mark.django_db(transaction=True)


def migrate(step: tuple[str, str]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate([step])
    return MigrationExecutor(connection).loader.project_state([step]).apps


def test_a_connection_goes_there_and_back() -> None:
    try:
        apps = migrate(BEFORE)
        Cluster, Connection = apps.get_model(*CLUSTER), apps.get_model(*CONNECTION)
        gpu = Cluster.objects.create(name="gpu", kind="kubernetes", **COLUMNS)
        Connection.objects.create(cluster=gpu, kubeconfig="token: s3cret")
        lost = Cluster.objects.create(name="lost", kind="kubernetes")
        Connection.objects.create(cluster=lost, kubeconfig="x")
        with connection.cursor() as cursor:
            stranger = encrypt("x")[:-9] + "aaaaaaaa="
            command = "UPDATE clusters_connection SET kubeconfig = %s WHERE cluster_id = %s"
            key = Connection._meta.pk.target_field.get_db_prep_value(lost.pk, connection)
            cursor.execute(command, [stranger, key])
        Cluster.objects.create(name="here", kind="local")

        apps = migrate(AFTER)
        Cluster, Connection = apps.get_model(*CLUSTER), apps.get_model(*CONNECTION)
        kept = Connection.objects.get(cluster__name="gpu")
        assert json.loads(kept.secret_json) == {"kubeconfig": "token: s3cret"}
        assert Cluster.objects.get(name="gpu").settings_json == COLUMNS | {"prometheus_url": ""}
        assert Cluster.objects.get(name="here").settings_json == {}
        assert Connection.objects.count() == 2

        apps = migrate(BEFORE)
        Cluster, Connection = apps.get_model(*CLUSTER), apps.get_model(*CONNECTION)
        assert Cluster.objects.get(name="gpu").ingress_class == "nginx"
        assert Connection.objects.get(cluster__name="gpu").kubeconfig == "token: s3cret"
    finally:
        executor = MigrationExecutor(connection)
        executor.migrate(executor.loader.graph.leaf_nodes())  # what went with it comes back, too


CLUSTER, CONNECTION = ("clusters", "Cluster"), ("clusters", "Connection")
