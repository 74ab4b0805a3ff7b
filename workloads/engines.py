"""The engine that acts on a workload: the cluster's own, or, where jobs run under the names of
people, one that acts as the person who submitted it."""

from assets.credential import own_keys
from assets.credential.own_keys import Person
from clusters.connections import engine_for
from clusters.models import Cluster
from core.database.fields import Unreadable
from engines.base import Engine, EngineRefused


def engine_for_person(cluster: Cluster, person: Person) -> Engine:
    """Return the engine with which a person submits and enters workloads. ``EngineRefused`` says
    which key is missing."""
    lack = own_keys.missing_key_text(cluster, person)
    if lack:
        raise EngineRefused(f"{lack[0].upper()}{lack[1:]}.")
    return _engine_as_person(cluster, person)


def engine_to_end(cluster: Cluster, person: Person) -> Engine:
    """Return the engine that ends a person's workload. Without the person's key it can only
    observe, and says what keeps running."""
    if own_keys.missing_key_text(cluster, person):
        return engine_for(cluster)
    return _engine_as_person(cluster, person)


def _engine_as_person(cluster: Cluster, person: Person) -> Engine:
    engine = engine_for(cluster)
    login = own_keys.login_name(cluster, person)
    if not login:
        return engine
    try:
        key = own_keys.private_key(cluster, person)
        return cluster.definition.act_as(cluster, engine, login, key)
    except Unreadable as error:
        raise EngineRefused(str(error)) from error
