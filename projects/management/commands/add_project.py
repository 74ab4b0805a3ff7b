"""``manage.py add_project``: a project on a cluster, with its quota and members."""

import argparse
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError

from accounts import access
from accounts.models import User
from clusters.models import Cluster
from projects import services


class Command(BaseCommand):
    help = "Add a project to a cluster."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--cluster", required=True, help="its name")
        parser.add_argument("--gpus", type=float, default=0.0, help="GPU quota; default 0")
        parser.add_argument(
            "--queue", default="", help="LocalQueue of Kueue for workloads that name no queue"
        )
        parser.add_argument(
            "--member", action="append", default=[], metavar="USER", help="may be given again"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        cluster = Cluster.objects.filter(name=options["cluster"]).first()
        if cluster is None:
            raise CommandError(f"There is no cluster {options['cluster']}.")
        administrator = access.permitted_users("projects.create").first()
        if administrator is None:
            raise CommandError("There is no administrator yet; create one first.")
        try:
            project = services.create_project(
                by=administrator,
                name=options["name"],
                cluster=cluster,
                gpu_quota=options["gpus"],
                default_queue=options["queue"],
                members=self._members(options["member"]),
            )
        except ValidationError as error:
            raise CommandError("; ".join(error.messages)) from error
        self.stdout.write(f"{project.name} on {cluster.name}, {project.gpu_quota:g} GPUs")

    def _members(self, names: list[str]) -> list[User]:
        users = list(User.objects.filter(username__in=names))
        unknown_names = set(names) - {user.username for user in users}
        if unknown_names:
            listed_names = ", ".join(sorted(unknown_names))
            raise CommandError(
                f"There is no user {listed_names}. An administrator adds people "
                "under Users; leave out --member until then."
            )
        return users
