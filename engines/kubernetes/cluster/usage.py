"""Usage of ranks: CPU and memory from metrics.k8s.io, GPUs from a Prometheus that scrapes DCGM.

Each source gets one request for all pods of the cluster per interval; single workloads are answered
from that. Either source may be missing or fail without affecting the other.
"""

import json
import logging
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from engines.base import EngineError, Manifest, UsageSample
from engines.kubernetes.amounts import parse_amount
from engines.kubernetes.client.api import Api
from engines.kubernetes.labels import WORKLOAD
from engines.kubernetes.status.job import JobView

log = logging.getLogger(__name__)

METRICS = "/apis/metrics.k8s.io/v1beta1/pods"
SAMPLE_SECONDS = 15.0  # seconds between two samples, the interval of metrics-server
RETRY_SECONDS = 300.0  # seconds until a failed source is asked again
TIMEOUT = 5.0
MIB = 1024**2
# percent; MiB
UTILIZATION = "DCGM_FI_DEV_GPU_UTIL"
MEMORY = "DCGM_FI_DEV_FB_USED"
#: If a scrape keeps its own labels, those of the exporter are called ``exported_…``.
QUERY = " or ".join(
    f'{{__name__=~"{UTILIZATION}|{MEMORY}",{label}=~"%(prefix)s.+"}}'
    for label in ("namespace", "exported_namespace")
)
Pod = tuple[str, str]  # namespace and name


@dataclass(frozen=True)
class PodUsage:
    """``cpu`` in cores, ``memory`` and ``gpu_memory`` in bytes, ``gpu`` in percent of its GPUs."""

    cpu: float | None = None
    memory: int | None = None
    gpu: float | None = None
    gpu_memory: int | None = None


class UsageReader:
    """``prefix`` starts the names of projects' namespaces. Without ``prometheus`` there is no GPU
    usage."""

    def __init__(self, api: Api, *, prefix: str, prometheus: str = "") -> None:
        self._api = api
        self._prefix = prefix
        self._prometheus = prometheus.rstrip("/")
        self._http = PoolManager(timeout=TIMEOUT, retries=False)
        self._due = {"metrics": 0.0, "prometheus": 0.0 if prometheus else float("inf")}
        self._tried_at = 0.0
        self._sampled_at = datetime.now(UTC)
        self._usage_by_pod: dict[Pod, PodUsage] = {}

    def refresh(self) -> set[Pod]:
        """Take a sample if one is due; returns the pods in it."""
        if time.monotonic() - self._tried_at < SAMPLE_SECONDS:
            return set()
        self._sample()
        return set(self._usage_by_pod)

    def read(self, job: JobView, after: datetime | None) -> list[UsageSample]:
        """The last sample of each rank, if it is later than ``after``."""
        self.refresh()
        if after is not None and self._sampled_at <= after:
            return []
        samples = []
        for rank, slot in enumerate(job.slots):
            pod = job.pods_by_slot.get(slot)
            if pod is None or not pod.is_ready:
                continue
            meta = pod.manifest["metadata"]
            if used := self._usage_by_pod.get((meta["namespace"], meta["name"])):
                sample = UsageSample(
                    rank, pod.restarts, self._sampled_at, **asdict(used), origin=meta["uid"]
                )
                samples.append(sample)
        return samples

    def _sample(self) -> None:
        self._tried_at = time.monotonic()
        used: dict[Pod, PodUsage] = {}
        if self._is_due("metrics"):
            try:
                items = self._api.items(METRICS, labelSelector=WORKLOAD)
                used = {pod_key(item): pod_usage(item) for item in items}
            except EngineError as error:
                self._postpone("metrics", error)
        if self._is_due("prometheus"):
            try:
                for pod, gpus in gpu_usage_by_pod(self._query_prometheus()).items():
                    before = used.get(pod, PodUsage())
                    used[pod] = replace(before, gpu=gpus.gpu, gpu_memory=gpus.gpu_memory)
            except (HTTPError, OSError, ValueError, KeyError) as error:
                self._postpone("prometheus", error)
        self._usage_by_pod = used
        self._sampled_at = datetime.now(UTC)

    def _is_due(self, source: str) -> bool:
        return time.monotonic() >= self._due[source]

    def _postpone(self, source: str, error: Exception) -> None:
        log.info("No samples from %s for a while: %s", source, error)
        self._due[source] = time.monotonic() + RETRY_SECONDS

    def _query_prometheus(self) -> list[dict[str, Any]]:
        query = QUERY % {"prefix": self._prefix}
        path = f"{self._prometheus}/api/v1/query"
        answer = self._http.request("GET", path, fields={"query": query})
        if answer.status != 200:
            raise ValueError(f"{path} answered {answer.status}")
        series: list[dict[str, Any]] = json.loads(answer.data)["data"]["result"]
        return series


def pod_key(item: Manifest) -> Pod:
    return item["metadata"]["namespace"], item["metadata"]["name"]


def pod_usage(item: Manifest) -> PodUsage:
    """The usage of all containers of a pod together."""
    usages = [container.get("usage") or {} for container in item.get("containers") or []]
    cpu = sum(parse_amount(usage.get("cpu", "0")) for usage in usages)
    memory = sum(parse_amount(usage.get("memory", "0")) for usage in usages)
    return PodUsage(round(float(cpu), 4), int(memory))


def gpu_usage_by_pod(series: Iterable[dict[str, Any]]) -> dict[Pod, PodUsage]:
    """For each pod the mean utilization of its GPUs, and the memory used on all of them."""
    values: dict[Pod, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for one in series:
        labels = one["metric"]
        pod = (
            labels.get("exported_namespace") or labels.get("namespace", ""),
            labels.get("exported_pod") or labels.get("pod", ""),
        )
        values[pod][labels["__name__"]].append(float(one["value"][1]))
    return {
        pod: PodUsage(
            gpu=sum(metrics[UTILIZATION]) / len(metrics[UTILIZATION])
            if metrics[UTILIZATION]
            else None,
            gpu_memory=int(sum(metrics[MEMORY]) * MIB) if metrics[MEMORY] else None,
        )
        for pod, metrics in values.items()
    }
