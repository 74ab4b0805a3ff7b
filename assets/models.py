"""The models of all kinds of assets, where Django looks for them."""

from assets.compute.model import ComputeResource
from assets.data_source.model import DataSource
from assets.environment.model import Environment
from assets.template.model import Template

__all__ = ["ComputeResource", "DataSource", "Environment", "Template"]
