"""The models of all kinds of assets, imported here for Django."""

from assets.compute.model import ComputeResource
from assets.credential.model import Credential, SecretValue
from assets.data_source.datasets.model import DatasetFile, DatasetVersion
from assets.data_source.model import DataSource, DataSourceAsset
from assets.environment.model import Environment
from assets.policy_links import PolicyAsset
from assets.template.model import Template
from assets.versions.model import AssetVersion

__all__ = [
    "AssetVersion",
    "ComputeResource",
    "Credential",
    "DataSource",
    "DataSourceAsset",
    "DatasetFile",
    "DatasetVersion",
    "Environment",
    "PolicyAsset",
    "SecretValue",
    "Template",
]
