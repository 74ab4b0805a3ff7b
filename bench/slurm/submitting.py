"""Compares workloads through REST, until Slurm has them, with a shell loop of ``sbatch`` by the
same user."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from bench.report import Measurement
from bench.slurm.place import SHAPE, WORKLOAD, SlurmBench, as_user
from tests.waiting import wait_for

COUNT = 200
CALLERS = 8
LONGEST = 300.0
LOOP = """
count=$0
for number in $(seq "$count"); do
  sbatch --job-name="peer-$number" "$@" --wrap='srun sleep 600' > /dev/null || exit
done
"""
UNDO = 'for number in $(seq "$0"); do scancel --name="peer-$number"; done'


def rows(place: SlurmBench) -> Iterator[Measurement]:
    with place.rest() as rest:

        def submit(number: int) -> None:
            rest.submit(f"load-{number}", workers=3, **WORKLOAD)

        there = place.waiting("ty-")
        with ThreadPoolExecutor(CALLERS) as pool:
            began = time.perf_counter()
            list(pool.map(submit, range(COUNT)))
            wait_for(lambda: place.waiting("ty-") == there + COUNT, LONGEST, "the jobs", every=0.1)
            ours = time.perf_counter() - began
    began = time.perf_counter()
    as_user("sh", "-c", LOOP, str(COUNT), *SHAPE)
    peer = time.perf_counter() - began
    as_user("sh", "-c", UNDO, str(COUNT))
    yield Measurement(
        what=f"{COUNT} workloads submitted through REST, by SSH, until Slurm has their jobs",
        ours=ours,
        unit="s",
        limit=2.0,
        peer=peer,
        peer_name="a shell loop of sbatch on the cluster by the same user",
    )
