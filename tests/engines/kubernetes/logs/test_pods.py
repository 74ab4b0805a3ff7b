"""What real pods print arrives once and in full, whatever happens to them and to the streams."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from pytest_django import Settings

from engines.kubernetes.logs.reader import ROTATED
from engines.kubernetes.names import job_name
from spec.phases import Phase
from spec.workload import Architecture
from tests.engines.kubernetes.conftest import PREFIX, KubernetesRig
from tests.engines.kubernetes.keeping import Keeper

pytestmark = pytest.mark.kubernetes
ALONE = {"architecture": Architecture.WORKERS_ONLY, "num_workers": 1}
COUNTS = """
i=0
while [ $i -lt 3000 ]; do
  echo "line $i of rank $RANK"; i=$((i+1)); [ $((i % 100)) = 0 ] && sleep 0.2
done
printf "the end"
"""


@pytest.fixture(autouse=True)
def store(tmp_path: Path, settings: Settings) -> None:
    settings.LOG_STORE = tmp_path


def counted(rank: int) -> bytes:
    return b"".join(b"line %d of rank %d\n" % (i, rank) for i in range(3000)) + b"the end"


def phase(keeper: Keeper) -> Phase | None:
    return keeper.seen.phase if keeper.seen else None


def keeper_of(rig: KubernetesRig, script: str, **fields: object) -> Keeper:
    return Keeper(rig, rig.submit(rig.shell(script, **{**ALONE, **fields})))


def test_the_last_words_after_a_stop_arrive(rig: KubernetesRig) -> None:
    script = "trap 'echo saved; printf bye; exit 0' TERM; echo up; while :; do sleep 0.1; done"
    keeper = keeper_of(rig, script, termination_grace_period_seconds=20)
    keeper.until(lambda: keeper.texts() == {(0, 0): b"up\n"})
    keeper.engine.stop(keeper.launched.handle, run=1)
    keeper.until(lambda: phase(keeper) is Phase.STOPPED and len(keeper.ended) == 1)
    assert rig.is_clean() or not rig.mine("/api/v1/pods")
    assert keeper.texts() == {(0, 0): b"up\nsaved\nbye"}
    assert keeper.engine.logs(keeper.launched.handle, run=1) == []  # and it holds on to nothing


def test_cut_streams_and_new_processes_go_on_where_they_were(rig: KubernetesRig) -> None:
    keeper = keeper_of(rig, COUNTS, num_workers=2)
    chance = random.Random(1)  # noqa: S311 -- no secret
    sizes = []

    def disturb() -> bool:
        size = sum(map(len, keeper.texts().values()))
        for follower in keeper.followers():
            if follower._response and chance.random() < 0.3:
                with suppress(ValueError, OSError):  # it may be over by itself
                    follower._response.shutdown()  # as if the connection was reset
        sizes.append(size)
        return len(keeper.ended) == 2 or bool(size and chance.random() < 0.1)

    while len(keeper.ended) < 2:
        keeper.until(disturb)
        keeper.restart()
    assert keeper.texts() == {(0, 0): counted(0), (0, 1): counted(1)}
    assert len(set(sizes)) > 5


def test_more_pods_than_streams_take_turns(
    rig: KubernetesRig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engines.kubernetes.logs.streams.TURN_SECONDS", 0.5)
    launched = rig.submit(rig.shell(COUNTS, **ALONE | {"num_workers": 3}))
    keeper = Keeper(rig, launched, streams=1)
    most = 0

    def is_done() -> bool:
        nonlocal most
        most = max(most, sum(bool(one.opened_at) for one in keeper.followers()))
        return len(keeper.ended) == 3

    keeper.until(is_done)
    assert keeper.texts() == {(0, rank): counted(rank) for rank in range(3)}
    assert most <= 1


def test_each_restart_has_its_own_output(rig: KubernetesRig) -> None:
    """Before the last one, at whose start the training operator deletes the pod."""
    script = "cut -d' ' -f1 /proc/uptime; sleep 1; exit 1"
    keeper = keeper_of(rig, script, backoff_limit=3)
    keeper.until(lambda: {stream.attempt for stream in keeper.ended} >= {0, 1, 2})
    texts = keeper.texts()
    times = [float(texts[attempt, 0]) for attempt in range(3)]
    assert times == sorted(set(times))


def test_a_pod_made_anew_is_another_attempt(rig: KubernetesRig) -> None:
    script = "echo $HOSTNAME; cut -d' ' -f1 /proc/uptime; exec sleep 600"
    keeper = keeper_of(rig, script, backoff_limit=3)
    keeper.until(lambda: keeper.texts().get((0, 0), b"").count(b"\n") == 2)
    keeper.restart()
    name = f"{job_name(keeper.launched.handle)}-worker-0"
    rig.api.delete(f"/api/v1/namespaces/{PREFIX}team-a/pods/{name}")
    keeper.until(lambda: keeper.texts().get((1, 0), b"").count(b"\n") == 2)
    first, second = keeper.texts().values()
    assert (first != second, first.split()[0] == second.split()[0]) == (True, True)


def test_odd_output_comes_as_it_was_written(rig: KubernetesRig) -> None:
    """Enough of it for the node to rotate the log, which it looks at every ten seconds."""
    script = r"""
    for i in $(seq 1 400); do printf '\r%3d%% done ..............................' $i; done
    head -c 1000000 /dev/zero | tr '\0' 'x'; echo
    printf '\000\001\377\376 binary\n\n\n'
    for part in 1 2 3; do seq 1 130000; sleep 12; done
    seq 1 20000
    """
    keeper = keeper_of(rig, script)
    keeper.until(lambda: len(keeper.ended) == 1, timeout=180)
    bars = b"".join(b"\r%3d%% done .............................." % i for i in range(1, 401))
    numbers = [b"%d\n" % i for i in range(1, 130_001)]
    want = bars + b"x" * 10**6 + b"\n" + b"\x00\x01\xff\xfe binary\n\n\n"
    want += b"".join(numbers) * 3 + b"".join(numbers[:20_000])
    # A line of ours stands where the node may have left out output, because it rotated the log
    # faster than a busy machine reads it. Nothing is missing elsewhere, and nothing comes twice.
    (text,) = keeper.texts().values()
    read = 0
    parts = text.split(ROTATED)
    for part in parts:
        begin = want.find(part, read)
        assert begin >= read, "output came twice, or other than it was written"
        read = begin + len(part)
    assert want.startswith(parts[0])
    assert want.endswith(parts[-1])
