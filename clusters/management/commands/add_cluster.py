"""``manage.py add_cluster``: a cluster for Trainyard to submit to."""

import argparse
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import pluralize

from clusters import services
from clusters.kinds import addable
from clusters.models import Cluster
from engines.base import EngineError
from engines.findings import Level


class Command(BaseCommand):
    help = "Add a cluster, once it has answered, and say what it offers."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        commands = {kind.slug: kind for kind in addable() if kind.has_command}
        default = next(iter(commands))
        parser.add_argument("name")
        parser.add_argument(
            "--kind", choices=list(commands), default=default, help=f"default {default}"
        )
        for kind in commands.values():
            kind.add_arguments(parser.add_argument_group(kind.label))

    def handle(self, *args: Any, **options: Any) -> None:
        kind = next(kind for kind in addable() if kind.slug == options["kind"])
        if not kind.has_command:
            raise CommandError(f"{kind.label} cannot be added by this command.")
        settings, secret = kind.read_options(options)
        try:
            cluster = services.add_after_check(
                kind, name=options["name"], settings=settings, secret=secret
            )
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        except EngineError as error:
            raise CommandError(f"{error} Nothing was added.") from error
        self._report(cluster)

    def _report(self, cluster: Cluster) -> None:
        nodes = list(cluster.nodes.all())
        gpus = sum(len(node.gpus) for node in nodes)
        count = f"{len(nodes)} node{pluralize(len(nodes))}, {gpus} GPU{pluralize(gpus)}"
        self.stdout.write(f"{cluster.name}: {count}")
        for support in cluster.capabilities.frameworks:
            text = f"missing. {support.why}"
            if support.available:
                text = support.version or support.operator
            self.stdout.write(f"  {support.framework.label}: {text}")
        for finding in cluster.findings:
            if finding.level is not Level.OK:
                self.stdout.write(f"  {finding.level}: {finding.name}: {finding.text}")
