"""The peer: creates the same jobs with the bare ``kubernetes`` client and eight threads.

``python -m bench.kubernetes.peer COUNT NAMESPACE`` reads a job from standard input, creates it
under COUNT names, and prints the seconds that this took.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from kubernetes import config
from kubernetes.client import CoreV1Api, CustomObjectsApi

THREADS = 8


def main() -> None:
    count = int(sys.argv[1])
    namespace = sys.argv[2]
    job = json.load(sys.stdin)
    config.load_kube_config()
    jobs = CustomObjectsApi()
    core = CoreV1Api()
    core.create_namespace({"metadata": {"name": namespace}})

    def create(number: int) -> None:
        body = {**job, "metadata": {**job["metadata"], "name": f"peer-{number}"}}
        body["metadata"]["namespace"] = namespace
        jobs.create_namespaced_custom_object(
            "kubeflow.org", "v1", namespace, "pytorchjobs", body, _request_timeout=60
        )

    started = time.perf_counter()
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(create, range(count)))
    print(time.perf_counter() - started)


if __name__ == "__main__":
    main()
