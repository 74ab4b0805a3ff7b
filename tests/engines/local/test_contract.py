"""The local engine keeps the contract."""

from tests.engines.contract import EngineContract


class TestLocal(EngineContract):
    """All of it, with the rig of this folder."""
