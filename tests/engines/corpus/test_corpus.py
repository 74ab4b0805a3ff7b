"""Batch scripts in the style of real ones do the same on this machine as on a real Slurm."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engines.slurm.client.transport import TIMEOUT
from engines.slurm.queue import reader
from tests.engines.corpus.running import AT_ONCE, Result, make_launch, submit_all, wait_for_result
from tests.engines.local.conftest import LocalRig
from tests.engines.slurm.rig import SlurmRig
from tests.parts import IS_CI
from tests.slurm_testbed import NO_SLURM, Testbed

pytestmark = pytest.mark.slurm

SCRIPTS = {path.stem: path for path in sorted(Path(__file__).parent.glob("scripts/*.sh"))}
if IS_CI:  # which has 45 minutes: a third of them, another one each day
    SCRIPTS = dict(list(SCRIPTS.items())[datetime.now(UTC).toordinal() % 3 :: 3])
Results = dict[str, Result]


@pytest.fixture(scope="module")
def results(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Results]]:
    """The results of all selected scripts by engine. This machine runs them while Slurm does."""
    testbed = Testbed.running()
    if testbed is None:
        pytest.skip(NO_SLURM)
    callspecs = [getattr(item, "callspec", None) for item in request.session.items]
    selected = {spec.params["name"] for spec in callspecs if spec and "name" in spec.params}
    names = [name for name in SCRIPTS if name in selected]
    launches = [make_launch(SCRIPTS[name].read_text()) for name in names]
    slurm = SlurmRig(testbed)
    local = LocalRig(tmp_path_factory.mktemp("corpus") / "engine")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "SLOW", TIMEOUT)  # as for the other tests on Slurm
        try:
            submit_all(slurm, launches)
            with ThreadPoolExecutor(AT_ONCE) as pool:
                here = pool.map(lambda it: wait_for_result(local, local.submit(it)), launches)
                on_local = dict(zip(names, here, strict=True))
            there = [wait_for_result(slurm, launched) for launched in launches]
            yield {"local": on_local, "slurm": dict(zip(names, there, strict=True))}
        finally:
            slurm.clean()
            for launched in launches:
                local.engine.delete(launched.handle)


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_does_here_what_it_does_on_slurm(name: str, results: dict[str, Results]) -> None:
    assert results["local"][name] == results["slurm"][name]
