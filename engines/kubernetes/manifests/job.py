"""Turn a launch into manifests, by small pure functions that golden files cover."""

from copy import deepcopy

from engines.base import Launch, Manifest, raise_complaints
from engines.kubernetes import labels
from engines.kubernetes.labels import PROJECT
from engines.kubernetes.manifests import owned_labels
from engines.kubernetes.manifests.emitters import emitter_for
from engines.kubernetes.manifests.emitters.base import Emitter, Place
from engines.kubernetes.manifests.pod import scheduling
from engines.kubernetes.manifests.pod.env import secret
from engines.kubernetes.manifests.pod.fetchers import Images
from engines.kubernetes.manifests.pod.pulls import pull_secret
from engines.kubernetes.manifests.pod.volumes import claims
from engines.kubernetes.manifests.tools import tool_objects
from engines.kubernetes.manifests.unsupported import not_provided
from engines.kubernetes.names import job_name, project_namespace
from spec.values.variable import looks_secret

IMAGES = Images()


def manifests(
    launch: Launch, *, prefix: str, images: Images = IMAGES, installation: str = ""
) -> list[Manifest]:
    """All objects in the order of creation: the namespace first, the job last. Both carry the mark
    of ``installation``.

    ``EngineRefused`` lists everything that cannot be provided.
    """
    raise_complaints(not_provided(launch))
    emitter = emitter_for(launch)
    space = project_namespace(launch.handle.project, prefix)
    marks = labels_for(launch, prefix) | labels.installation_labels(installation)
    place = Place(space, images, marks)
    hidden = (secret(launch, space), pull_secret(launch, space))
    return [
        namespace(space, launch.handle.project, installation),
        *filter(None, hidden),
        *claims(launch, space),
        *tool_objects(launch, emitter, space),
        *emitter.companions(launch, place),
        job(launch, emitter, place),
    ]


def namespace(name: str, project: str, installation: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "labels": {PROJECT: project} | labels.installation_labels(installation),
        },
    }


def job(launch: Launch, emitter: Emitter, place: Place) -> Manifest:
    kind = emitter.kind(launch)
    return {
        "apiVersion": kind.api_version,
        "kind": kind.name,
        "metadata": {
            "name": job_name(launch.handle),
            "namespace": place.space,
            "labels": owned_labels.labels_of_job(launch.spec, kind)
            | place.marks
            | emitter.labels(launch),
            "annotations": owned_labels.annotations_of_job(launch.spec, kind)
            | scheduling.annotations(launch)
            | labels.annotations(launch)
            | emitter.annotations(launch),
        },
        "spec": emitter.job_spec(launch, place),
    }


def labels_for(launch: Launch, prefix: str) -> dict[str, str]:
    """Labels of the job and its pods."""
    return scheduling.labels(launch, prefix) | labels.labels(launch)


def mask_secrets(documents: list[Manifest]) -> list[Manifest]:
    """A copy to show to people, without secret values."""
    shown = deepcopy(documents)
    for document in shown:
        if document["kind"] == "Secret":
            document["data"] = dict.fromkeys(document["data"], "***")
        for variable in _env_entries(document):
            if "value" in variable and looks_secret(variable["name"]):
                variable["value"] = "***"
    return shown


def _env_entries(node: object) -> list[Manifest]:
    """All entries of all ``env`` lists within ``node``."""
    if isinstance(node, list):
        return [entry for item in node for entry in _env_entries(item)]
    if not isinstance(node, dict):
        return []
    below = [entry for item in node.values() for entry in _env_entries(item)]
    return [*node.get("env", []), *below]
