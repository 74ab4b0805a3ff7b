"""``manage.py add_cluster``: a Kubernetes cluster for Trainyard to submit to."""

import argparse
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from clusters import services
from clusters.models import PREFIX, Cluster
from engines.base import EngineError


class Command(BaseCommand):
    help = "Add a Kubernetes cluster, once it has answered, and say what it offers."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name")
        way = parser.add_mutually_exclusive_group(required=True)
        way.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kept encrypted")
        way.add_argument(
            "--in-cluster", action="store_true", help="the service account of Trainyard's own pod"
        )
        parser.add_argument(
            "--namespace-prefix",
            default=PREFIX,
            metavar="P",
            help=f"namespaces of projects are named P<project>; default {PREFIX}",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            text = "" if options["in_cluster"] else options["kubeconfig"].read_text().strip()
            if not text and not options["in_cluster"]:
                raise CommandError("The kubeconfig is empty.")
            cluster = services.add_kubernetes(
                options["name"], text, namespace_prefix=options["namespace_prefix"]
            )
        except OSError as error:
            raise CommandError(f"The kubeconfig cannot be read: {error}") from error
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        except EngineError as error:
            raise CommandError(f"{error} Nothing was added.") from error
        self._report(cluster)

    def _report(self, cluster: Cluster) -> None:
        nodes = list(cluster.nodes.all())
        gpus = sum(len(node.gpus) for node in nodes)
        self.stdout.write(f"{cluster.name}: {len(nodes)} nodes, {gpus} GPUs")
        for support in cluster.capabilities.frameworks:
            said = support.version if support.available else f"missing. {support.why}"
            self.stdout.write(f"  {support.framework.label}: {said}")
