"""Encrypted text: unreadable in the database, and readable over a change of the secret key."""

import pytest
from django.db import connection
from pytest_django import Settings

from clusters.models import Connection
from core.fields import Unreadable, decrypt, encrypt
from tests.factories import ClusterFactory


@pytest.mark.django_db
def test_the_database_never_holds_the_text() -> None:
    Connection.objects.create(cluster=ClusterFactory(), kubeconfig="token: s3cret")
    with connection.cursor() as cursor:
        cursor.execute("SELECT kubeconfig FROM clusters_connection")
        (stored,) = cursor.fetchone()
    assert "s3cret" not in stored
    assert Connection.objects.get().kubeconfig == "token: s3cret"


@pytest.mark.django_db
def test_an_empty_text_stays_empty() -> None:
    Connection.objects.create(cluster=ClusterFactory())
    assert Connection.objects.get().kubeconfig == ""


def test_the_same_text_is_never_stored_twice_alike() -> None:
    assert encrypt("a") != encrypt("a")


def test_an_old_key_still_reads(settings: Settings) -> None:
    token = encrypt("text")
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another"
    with pytest.raises(Unreadable, match="SECRET_KEY"):
        decrypt(token)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert decrypt(token) == "text"
