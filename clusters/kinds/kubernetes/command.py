"""The options of ``manage.py add_cluster`` for a Kubernetes cluster."""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from clusters.kinds.kubernetes.settings import PREFIX, KubernetesSecret


def add_arguments(parser: argparse._ArgumentGroup) -> None:
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--kubeconfig", type=Path, metavar="FILE", help="kept encrypted")
    group.add_argument(
        "--in-cluster", action="store_true", help="the service account of Trainyard's own pod"
    )
    parser.add_argument(
        "--namespace-prefix",
        default=PREFIX,
        metavar="P",
        help=f"namespaces of projects are named P<project>; default {PREFIX}",
    )


def read_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], KubernetesSecret]:
    settings = {"namespace_prefix": options["namespace_prefix"]}
    if options["in_cluster"]:
        return settings, KubernetesSecret()
    if options["kubeconfig"] is None:
        raise CommandError("Pass --kubeconfig FILE or --in-cluster.")
    try:
        text = options["kubeconfig"].read_text().strip()
    except OSError as error:
        raise CommandError(f"The kubeconfig cannot be read: {error}") from error
    if not text:
        raise CommandError("The kubeconfig is empty.")
    return settings, KubernetesSecret(kubeconfig=text)
