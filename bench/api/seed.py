"""``python -m bench.api.seed`` creates a project to submit to, and prints its id, that of its
cluster, and a token, as JSON."""

import json
import sys

import django


def seed() -> dict[str, str]:
    """Create the project, and return the ids and a token of its member."""
    from accounts import tokens
    from accounts.models import User
    from tests.factories import ProjectFactory

    administrator = User.objects.get(username="admin")
    project = ProjectFactory.create(name="bench", members=[administrator])
    ids = {"project": str(project.pk), "cluster": str(project.cluster_id)}
    return {**ids, "token": tokens.access_token_for(administrator)}


if __name__ == "__main__":
    django.setup()
    json.dump(seed(), sys.stdout)
