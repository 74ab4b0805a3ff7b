"""The row of environments in the table of kinds."""

from collections.abc import Iterator

from assets.base import AssetKind, Panel
from assets.environment import card
from assets.environment.form import EnvironmentForm, initial
from assets.environment.model import Environment
from assets.environment.wire import WIRE
from assets.refusals import refusals
from spec.draft import Values
from spec.formats.merge import NOTHING
from spec.parts import environment
from spec.problems.errors import Problem

IDS = ("runAsUid", "runAsGid", "supplementalGroups")
#: Fields of a pod that stay when an environment is chosen. It replaces all others by its own.
ON_TOP = {"command", "args", "workingDir", "environmentVariables", "probes"}


def layer(asset: Environment) -> Values:
    values: Values = asset.spec_json
    return values


#: Fields that workloads on other clusters than Kubernetes cannot override.
KEPT = frozenset({"probes", "security", "stdin", "tty"})


def complaints(asset: Environment, given: Values) -> Iterator[Problem]:
    """Yield problems for user and group ids of the pod, unless the environment allows them."""
    if asset.leaves_ids:
        return
    security = given.get("security")
    for key in IDS:
        if isinstance(security, dict) and security.get(key) not in NOTHING:
            message = f"is set by the environment {asset.name}; leave it empty"
            yield Problem(("security", key), message)


ENVIRONMENT = AssetKind(
    slug="environment",
    path="environments",
    model=Environment,
    noun="environment",
    title="Environments",
    lead="An image with its command, variables, tools and permissions, ready to use in a workload.",
    icon="box",
    copy_verb="Make a copy",
    form=EnvironmentForm,
    initial=initial,
    card=card.draw,
    columns=card.COLUMNS,
    part=environment.Environment,
    fields="assets/environment_fields.html",
    wire=WIRE,
    panel=Panel.START,
    choice_lead="The image and how to start it.",
    layer=layer,
    replaces=frozenset(
        field.alias or name
        for name, field in environment.Environment.model_fields.items()
        if field.alias not in ON_TOP
    ),
    copied=card.copied,
    unfit=Environment.unfit_for,
    distance=Environment.distance,
    issues=refusals(layer, KEPT),
    complaints=complaints,
)
