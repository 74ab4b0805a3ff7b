"""Encrypt the addresses of webhooks, whose paths may be secrets."""

from contextlib import suppress

from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import core.database.fields
from core.database.fields import Unreadable, decrypt, encrypt

PLAIN = "http"  # how an address begins, in capitals or not, and nothing that is encrypted


def hide(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("notifications", "Webhook")._default_manager
    plain = rows.using(editor.connection.alias).filter(url__istartswith=PLAIN)
    for pk, url in list(plain.values_list("pk", "url")):
        plain.filter(pk=pk, url=url).update(url=encrypt(url))


def show(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    rows = apps.get_model("notifications", "Webhook")._default_manager
    hidden = rows.using(editor.connection.alias).exclude(url__istartswith=PLAIN)
    for pk, token in list(hidden.values_list("pk", "url")):
        with suppress(Unreadable):  # it is lost either way
            hidden.filter(pk=pk).update(url=decrypt(token))


class Migration(migrations.Migration):
    dependencies = [("notifications", "0003_hidden_paths")]
    operations = [
        migrations.AlterField("webhook", "url", models.TextField("address")),
        migrations.RunPython(hide, show),
        migrations.AlterField(
            "webhook", "url", core.database.fields.EncryptedTextField("address")
        ),
    ]
