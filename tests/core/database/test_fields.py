"""Encrypted text cannot be read in the database, and can be read after a change of the secret key.
What a cluster or a training said is kept, whatever it holds."""

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import TextField
from django.utils import timezone
from pytest_django import Settings

from clusters.models import Connection
from core.database.fields import (
    LONGEST_MESSAGE,
    CleanedTextField,
    EncryptedTextField,
    Unreadable,
    decrypt,
    encrypt,
)
from tests.factories import ClusterFactory, WorkloadFactory
from workloads.models import Sample, SampleKind, Workload


@pytest.mark.django_db
def test_the_database_never_holds_the_text() -> None:
    Connection.objects.create(cluster=ClusterFactory(), secret_json="token: s3cret")
    with connection.cursor() as cursor:
        cursor.execute("SELECT secret_json FROM clusters_connection")
        (stored,) = cursor.fetchone()
    assert "s3cret" not in stored
    assert Connection.objects.get().secret_json == "token: s3cret"


@pytest.mark.django_db
def test_an_empty_text_stays_empty() -> None:
    Connection.objects.create(cluster=ClusterFactory())
    assert Connection.objects.get().secret_json == ""


def test_the_same_text_is_never_stored_twice_alike() -> None:
    assert encrypt("a") != encrypt("a")


def test_an_old_key_still_reads(settings: Settings) -> None:
    token = encrypt("text")
    old = settings.SECRET_KEY
    settings.SECRET_KEY = "another"
    with pytest.raises(Unreadable, match="put the key back"):
        decrypt(token)
    settings.SECRET_KEY_FALLBACKS = [old]
    assert decrypt(token) == "text"


@pytest.mark.django_db
def test_words_of_a_cluster_are_kept_whatever_they_hold() -> None:
    odd = "a\0b\ud800c"
    workload = WorkloadFactory.create(running=True)
    Workload.objects.filter(pk=workload.pk).update(message=odd, last_metrics={odd: 1})
    workload.ranks.update(message=odd, node="n" * 300)
    event = workload.events.create(message=odd, source="s" * 50)
    cause = workload.causes.create(
        run=1, kind="Other", title="t" * 400, said="x" * 50_000, evidence={"shares": [[odd, 1]]}
    )
    sample = Sample(
        workload=workload,
        kind=SampleKind.TRAINING,
        run=1,
        rank=0,
        step=1,
        at=timezone.now(),
        values={odd: 1.0},
    )
    Sample.objects.bulk_create([sample])
    for row in (workload, event, cause):
        row.refresh_from_db()
    plain = "a\ufffdb\ufffdc"
    assert (workload.message, event.message, workload.last_metrics) == (plain, plain, {plain: 1})
    assert {rank.message for rank in workload.ranks.all()} == {plain}
    assert {len(rank.node) for rank in workload.ranks.all()} == {253}
    assert (len(cause.title), len(cause.said)) == (300, LONGEST_MESSAGE)
    assert cause.evidence == {"shares": [[plain, 1]]}
    assert workload.samples.get().values == {plain: 1.0}


def test_a_text_without_a_limit_is_one_that_is_cut_or_encrypted() -> None:
    ours = [it for it in apps.get_models() if not it.__module__.startswith(("django", "allauth"))]
    plain = [
        str(field)
        for model in ours
        for field in model._meta.get_fields()
        if isinstance(field, TextField)
        and not isinstance(field, CleanedTextField | EncryptedTextField)
    ]
    assert len(ours) > 10
    assert not plain
