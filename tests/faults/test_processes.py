"""Killing any process of Trainyard, or all of them, leaves it able to go on."""

from collections.abc import Iterator

import psutil
import pytest

from tests.product import PROGRAMS, Trainyard
from tests.waiting import wait_for

pytestmark = pytest.mark.faults


@pytest.fixture(scope="module")
def separate_product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trainyard]:
    trainyard = Trainyard(tmp_path_factory.mktemp("separate"))
    yield trainyard
    if not trainyard.ended():
        trainyard.stop()


@pytest.fixture
def mortal(separate_product: Trainyard) -> Trainyard:
    """One that runs, and that a test may end."""
    if separate_product.ended():
        separate_product.start()
    return separate_product


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_killed_process_starts_again(trainyard: Trainyard, name: str) -> None:
    before = trainyard.pids()
    trainyard.kill(name)
    wait_for(lambda: trainyard.pids()[name] != before[name], message="a new process")
    wait_for(trainyard.is_healthy, 20, "health")
    after = trainyard.pids()
    assert [one for one in PROGRAMS if before[one] != after[one]] == [name]
    assert f"{name} was killed by SIGKILL; starting it again" in trainyard.terminal()


def test_a_process_that_hangs_is_named(trainyard: Trainyard) -> None:
    hanging = [psutil.Process(trainyard.pids()[name]) for name in ("worker", "beat")]
    for process in hanging:
        process.suspend()
    try:
        wait_for(lambda: down(trainyard) == ["worker", "beat"], 30, "both to be named")
        assert trainyard.health()[0] == 503
    finally:
        for process in hanging:
            process.resume()
    wait_for(trainyard.is_healthy, 20, "health")


def down(trainyard: Trainyard) -> list[str]:
    """The parts that are down."""
    return [name for name, state in trainyard.health()[1]["checks"].items() if state == "down"]


def test_processes_that_are_all_killed_at_once_start_again(trainyard: Trainyard) -> None:
    trainyard.kill(*PROGRAMS)
    wait_for(trainyard.is_healthy, 30, "health")


def test_the_next_start_after_kill_9_of_everything(mortal: Trainyard) -> None:
    mortal.kill_everything()
    mortal.start()
    assert "First administrator" in mortal.terminal()
    assert mortal.terminal().count("First administrator") == 1


def test_the_next_start_ends_what_a_killed_manager_left(mortal: Trainyard) -> None:
    assert mortal.manager is not None
    before = mortal.pids()
    mortal.manager.kill()
    mortal.manager.wait(10)
    mortal.start()
    assert "Ended processes left over from a killed start" in mortal.terminal()
    assert not set(before.values()) & set(mortal.pids().values())


def test_ctrl_c_ends_every_process(mortal: Trainyard) -> None:
    pids = mortal.pids()
    assert mortal.stop() == 0
    assert not [name for name, pid in pids.items() if psutil.pid_exists(pid)]


def test_a_second_start_on_the_same_folder_is_refused(trainyard: Trainyard) -> None:
    second = Trainyard(trainyard.home)
    second.spawn()
    assert second.manager is not None
    assert second.manager.wait(20) == 1
    assert f"Trainyard already runs on {trainyard.home}, at {trainyard.url}" in second.terminal()
    assert trainyard.is_healthy()


def test_a_taken_port_is_told(
    trainyard: Trainyard, tmp_path_factory: pytest.TempPathFactory
) -> None:
    second = Trainyard(tmp_path_factory.mktemp("second"), port=trainyard.port)
    second.spawn()
    assert second.manager is not None
    assert second.manager.wait(20) == 1
    assert f"Cannot listen on 127.0.0.1:{trainyard.port}" in second.terminal()
    assert "PORT=" in second.terminal()


def test_two_installations_run_side_by_side(
    trainyard: Trainyard, tmp_path_factory: pytest.TempPathFactory
) -> None:
    second = Trainyard(tmp_path_factory.mktemp("second"))
    second.start()
    assert trainyard.is_healthy()
    assert second.stop() == 0
    assert trainyard.is_healthy()
