"""``python -m bench.api.seed``: a project to submit to, and who does; printed as JSON."""

import json
import sys

import django


def seed() -> dict[str, str]:
    from accounts import tokens
    from accounts.models import User
    from tests.factories import ProjectFactory

    boss = User.objects.get(username="admin")
    project = ProjectFactory.create(name="bench", members=[boss])
    ids = {"project": str(project.pk), "cluster": str(project.cluster_id)}
    return {**ids, "token": tokens.issue(boss)}


if __name__ == "__main__":
    django.setup()
    json.dump(seed(), sys.stdout)
