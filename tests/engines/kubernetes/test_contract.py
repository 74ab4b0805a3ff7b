"""The Kubernetes engine keeps the contract, with real pods."""

import pytest

from tests.engines.contract import EngineContract


@pytest.mark.kubernetes
class TestKubernetes(EngineContract):
    """All of it, with the rig of this folder."""
