"""The card of an environment in a gallery."""

from assets.base import AssetCard, Columns, Fact
from assets.environment.model import Environment
from clusters.models import Cluster
from spec.draft import Values
from spec.framework import Framework
from spec.parts.environment import TOOLS

IMAGE = "Image"
SERVED = "Tools"
COLUMNS: Columns = ((IMAGE, (IMAGE,)), (SERVED, (SERVED,)))


def draw(environment: Environment, cluster: Cluster | None) -> AssetCard:
    spec = environment.spec
    facts = [("box", IMAGE, spec.image)]
    if command := " ".join(part for part in (spec.command, spec.args) if part):
        facts.append(("terminal-2", "Command", command))
    tools = ", ".join(TOOLS[connection.tool_type] for connection in spec.connections)
    if tools:
        facts.append(("tool", SERVED, tools))
    if count := len(spec.environment_variables):
        facts.append(("variable", "Environment variables", f"{count} variable{'s' * (count > 1)}"))
    framework = environment.framework
    label = Framework(framework).label if framework else "Any framework"
    return AssetCard(facts, [(label if environment.distributed else "Standard", "accent")])


def copied_facts(values: Values) -> list[Fact]:
    """Return the facts of a copied pod's own image, if it has one."""
    image = values.get("image")
    return [("box", IMAGE, str(image))] if image else []
