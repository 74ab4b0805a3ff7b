"""A user who opens the workloads table again and again, in a process of its own.

``python -m bench.kubernetes.looker`` reads a line of JSON from standard input: the ``address`` of
Trainyard, and the ``cookie`` of a session. It prints an empty line when it is ready, opens the page
until its input ends, and prints the seconds that each page took, as JSON.
"""

import json
import sys
import time
from http.client import HTTPConnection
from select import select

PATH = "/workloads/"
PAUSE = 0.5  # seconds between two looks


def main() -> None:
    order = json.loads(sys.stdin.readline())
    connection = HTTPConnection(order["address"], timeout=60)
    times: list[float] = []
    _look(connection, order["cookie"])
    print(flush=True)
    while not select([sys.stdin], [], [], PAUSE)[0]:
        times.append(_look(connection, order["cookie"]))
    print(json.dumps(times))


def _look(connection: HTTPConnection, cookie: str) -> float:
    started = time.perf_counter()
    connection.request("GET", PATH, headers={"Cookie": cookie})
    answer = connection.getresponse()
    answer.read()
    if answer.status != 200:
        raise RuntimeError(f"{PATH} answers {answer.status}")
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
