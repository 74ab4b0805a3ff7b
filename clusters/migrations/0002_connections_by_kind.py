import json

import clusters.models
from core.database.fields import Unreadable
from django.db import migrations, models

SETTINGS = ("namespace_prefix", "ingress_domain", "ingress_class", "prometheus_url")


def move(apps, schema_editor):
    """What columns held goes into the settings of the kind and into its secret."""
    for cluster in apps.get_model("clusters", "Cluster").objects.filter(kind="kubernetes"):
        cluster.settings_json = {name: getattr(cluster, name) for name in SETTINGS}
        cluster.save(update_fields=["settings_json"])
    connections = apps.get_model("clusters", "Connection").objects
    for pk in connections.values_list("pk", flat=True):
        try:
            connection = connections.get(pk=pk)
        except Unreadable:
            continue  # written under a SECRET_KEY that is gone: its cluster says so as before
        connection.secret_json = json.dumps({"kubeconfig": connection.secret_json})
        connection.save()
    apps.get_model("clusters", "ConnectionTest").objects.all().delete()  # they live an hour


def move_back(apps, schema_editor):
    for cluster in apps.get_model("clusters", "Cluster").objects.filter(kind="kubernetes"):
        for name in SETTINGS:
            setattr(cluster, name, cluster.settings_json[name])
        cluster.save(update_fields=SETTINGS)
    connections = apps.get_model("clusters", "Connection").objects
    for pk in connections.values_list("pk", flat=True):
        try:
            connection = connections.get(pk=pk)
        except Unreadable:
            continue
        connection.secret_json = json.loads(connection.secret_json)["kubeconfig"]
        connection.save()
    apps.get_model("clusters", "ConnectionTest").objects.all().delete()


class Migration(migrations.Migration):

    dependencies = [("clusters", "0001_initial")]

    operations = [
        migrations.AddField("cluster", "settings_json", models.JSONField(blank=True, default=dict)),
        migrations.RenameField("connection", "kubeconfig", "secret_json"),
        migrations.RenameField("connectiontest", "kubeconfig", "secret_json"),
        migrations.AddField(
            "connectiontest",
            "kind",
            models.CharField(choices=clusters.models.kinds, default="kubernetes", max_length=20),
            preserve_default=False,
        ),
        migrations.AddField(
            "connectiontest", "settings_json", models.JSONField(blank=True, default=dict)
        ),
        migrations.RunPython(move, move_back),
        migrations.RemoveField("cluster", "namespace_prefix"),
        migrations.RemoveField("cluster", "ingress_domain"),
        migrations.RemoveField("cluster", "ingress_class"),
        migrations.RemoveField("cluster", "prometheus_url"),
        migrations.RemoveField("connectiontest", "in_cluster"),
    ]
