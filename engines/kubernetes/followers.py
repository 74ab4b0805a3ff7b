"""The Jobs of the ranks that follow a lead, in a gang in which each rank has a Job."""

from collections.abc import Iterable

from engines.base import EngineUnavailable, Manifest
from engines.kubernetes.client.api import Api, Conflict, NotFound
from engines.kubernetes.jobs import PLAIN_JOB, is_suspended
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.ranks import has_followers, is_follower, is_owned_by
from engines.kubernetes.status.conditions import has_condition, is_completed

NOT_GONE = "Jobs of the run before are being deleted."


def list_followers(api: Api, lead: Manifest) -> list[Manifest]:
    """The other Jobs of a gang; none if it is not one in which each rank has a Job."""
    if not has_followers(lead):
        return []
    meta = lead["metadata"]
    path = PLAIN_JOB.path(meta["namespace"], "").rstrip("/")
    jobs = api.items(path, labelSelector=f"{WORKLOAD}={meta['labels'][WORKLOAD]}")
    return [job for job in jobs if is_follower(job) and is_owned_by(job, lead)]


def suspend_followers(api: Api, lead: Manifest) -> None:
    for job in list_followers(api, lead):
        if not is_suspended(job) and not is_over(job):
            set_suspended(api, job, wish=True)


def create_followers(api: Api, lead: Manifest, followers: Iterable[Manifest]) -> None:
    """Create those Jobs of a gang that are missing. Its lead owns them.

    ``EngineUnavailable`` while one of the run before is still there.
    """
    meta = lead["metadata"]
    owner = {
        "apiVersion": PLAIN_JOB.api_version,
        "kind": PLAIN_JOB.name,
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
    }
    there = {job["metadata"]["name"] for job in list_followers(api, lead)}
    for follower in followers:
        if follower["metadata"]["name"] in there:
            continue
        path = PLAIN_JOB.path(follower["metadata"]["namespace"], "").rstrip("/")
        job = follower | {"metadata": follower["metadata"] | {"ownerReferences": [owner]}}
        try:
            api.create(path, job)
        except Conflict as error:
            raise EngineUnavailable(NOT_GONE) from error


def is_over(job: Manifest) -> bool:
    status = job.get("status") or {}
    return is_completed(status) or has_condition(status, "Failed")


def set_suspended(api: Api, job: Manifest, *, wish: bool) -> None:
    meta = job["metadata"]
    try:
        api.merge(PLAIN_JOB.path(meta["namespace"], meta["name"]), {"spec": {"suspend": wish}})
    except NotFound:
        return  # it went with its lead
