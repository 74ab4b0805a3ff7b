"""Kubernetes as a kind of cluster."""

import argparse
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from django.conf import settings
from pydantic import ValidationError

from clusters.kinds.base import ClusterKind, Rights
from clusters.kinds.kubernetes import command, names
from clusters.kinds.kubernetes.form import KubernetesForm
from clusters.kinds.kubernetes.settings import KubernetesSecret, KubernetesSettings
from clusters.kinds.kubernetes.wire import KubernetesConnecting
from core.database.fields import Unreadable
from engines.base import Claim, Engine, EngineUnavailable, Launch
from engines.kubernetes.cluster import rbac
from engines.kubernetes.manifests import unsupported
from engines.kubernetes.manifests.emitters import emitter_for
from engines.kubernetes.names import project_namespace
from engines.local_queues import LocalQueue
from spec.problems.causes import Cause
from spec.problems.errors import Problem
from spec.workload import WorkloadSpec

if TYPE_CHECKING:
    from clusters.models import Cluster

KEPT_PREFIX = (
    "The namespaces of projects have this prefix, so it cannot change while there are any."
)
LOST = "The stored kubeconfig of this cluster can no longer be read; enter it again."


class KubernetesKind(ClusterKind):
    slug = "kubernetes"
    label = "Kubernetes"
    settings = KubernetesSettings
    secret = KubernetesSecret
    connection_settings = frozenset({"namespace_prefix", "prometheus_url", "partial_gang_seconds"})
    fixed_settings = MappingProxyType({"namespace_prefix": KEPT_PREFIX})
    exclusive_setting = "namespace_prefix"
    form = KubernetesForm
    form_template = "clusters/kinds/kubernetes.html"
    wire = KubernetesConnecting
    has_command = True
    server = "API server"
    rights = Rights(
        rbac.render_manifest, "clusters/kinds/kubernetes_rights.html", "trainyard-rights.yaml"
    )
    has_secrets = True
    pulls_images = True
    keeps_stopped_workloads = True
    # Jobs are found by the names of namespaces and queues alone.
    names_are_fixed = True

    def add_arguments(self, parser: argparse._ArgumentGroup) -> None:
        command.add_arguments(parser)

    def read_options(self, options: Mapping[str, Any]) -> tuple[dict[str, Any], KubernetesSecret]:
        return command.read_options(options)

    def connect(self, cluster: "Cluster") -> Engine:
        # The client library is large; a process that never talks to Kubernetes does not load it.
        from clusters.models import Installation
        from engines.kubernetes.client.connect import connect
        from engines.kubernetes.engine import KubernetesEngine
        from engines.kubernetes.manifests.pod.fetchers import Images

        try:
            secret = KubernetesSecret.of(cluster.connection)
        except Unreadable as error:
            raise EngineUnavailable(str(error)) from error
        except ValidationError as error:
            raise EngineUnavailable(LOST) from error
        cluster_settings = KubernetesSettings.of(cluster)
        images = Images(
            git=settings.KUBERNETES_GIT_IMAGE or Images.git,
            s3=settings.KUBERNETES_S3_IMAGE or Images.s3,
            shell=settings.KUBERNETES_SHELL_IMAGE or Images.shell,
        )
        return KubernetesEngine(
            connect(secret.kubeconfig or None, streams=settings.LOG_STREAMS),
            prefix=cluster_settings.namespace_prefix,
            installation=Installation.current_mark(),
            images=images,
            prometheus=cluster_settings.prometheus_url,
            log_streams=settings.LOG_STREAMS,
            patience=cluster_settings.patience,
        )

    def complaints(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        yield from self.unsupported(cluster, launch)
        yield from names.unknown_names(cluster, launch.spec)

    def unsupported(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        return unsupported.complaints(launch)

    def runs_as(self, cluster: "Cluster", launch: Launch) -> str:
        return emitter_for(launch).explain(launch)

    def namespace(self, cluster: "Cluster", project: str) -> str:
        return project_namespace(project, KubernetesSettings.of(cluster).namespace_prefix)

    def warnings(self, cluster: "Cluster", launch: Launch) -> Iterator[Problem]:
        yield from names.missing_objects(cluster, launch)
        yield from names.unready_queue(cluster, launch)

    def waits_for(self, cluster: "Cluster", launch: Launch) -> Cause | None:
        return names.cause_of_missing_object(cluster, launch)

    def known_names(self, cluster: "Cluster") -> dict[str, list[str]]:
        return names.known_names(cluster)

    def local_queues(self, cluster: "Cluster", project: str) -> list[LocalQueue] | None:
        return names.local_queues(cluster, project)

    def starting_queue(
        self, cluster: "Cluster", project: str, spec: WorkloadSpec
    ) -> LocalQueue | None:
        return names.starting_queue(cluster, project, spec)

    def claims(self, cluster: "Cluster", project: str) -> list[Claim] | None:
        return names.claims(cluster, project)

    def config_maps(self, cluster: "Cluster", project: str) -> list[str] | None:
        return names.config_maps(cluster, project)


KUBERNETES = KubernetesKind()
