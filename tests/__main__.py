"""``python -m tests``: what ``make test`` and ``make test-all`` run, part by part. See ``--help``.

``make test`` is the whole behavior, quickly. ``make test-all`` is the rest, for CI and releases:
tests marked ``extended`` or ``faults``, PostgreSQL, Slurm and Kubernetes.
"""

import argparse
import os
import secrets
import signal
import sys
from pathlib import Path
from typing import Any

from tests import browser, kubernetes_testbed, slurm_testbed
from tests.parts import Part, beside, report

HERE = Path(__file__).resolve().parent
# The settings are named, because modules imported here may have put the product's into the
# environment.
PYTEST = ["-m", "pytest", "--ds=tests.settings", "-n", "2", "--durations=15", "--durations-min=3"]
#: Two files at a time: the tests of a file share a running product, which is slow to start.
BY_FILE = ["--dist", "loadfile"]
#: One process, which starts the product and Chromium once. It takes less time than the tests
#: without a browser.
ALONE = ["-n", "0"]
CLUSTER = "kubernetes or slurm"
CLUSTER_SECONDS = 30 * 60
PRODUCT = "e2e or faults"
#: Where the SQL differs: locks, JSON, search, order, constraints and what happens at once. The
#: calls of REST and the verbs are here because together they send every query.
ON_POSTGRES = """
    accounts/api accounts/test_access.py accounts/test_groups.py accounts/test_rules.py
    assets/gallery/test_table.py assets/test_own_credentials.py audit/test_search.py
    audit/test_verbs.py clusters/kinds/kubernetes/test_names.py clusters/nodes
    clusters/test_refused.py config/rest/test_at_once.py config/rest/test_edits.py
    config/rest/test_examples.py config/rest/test_lists.py config/rest/test_storage_errors.py
    config/test_health.py config/upkeep core/broker core/database fuzz/test_document.py
    notifications/delivery projects/test_lending.py projects/test_quotas.py
    workflows/test_running.py workflows/test_services.py workloads/api/reads
    workloads/queue workloads/reconcile workloads/scheduling/limits
    workloads/scheduling/test_admission.py workloads/scheduling/test_capacity.py
    workloads/scheduling/test_front.py workloads/scheduling/test_reclaim.py workloads/services
    workloads/table workloads/worker
""".split()
#: Folders with tests marked ``extended`` that start no process.
IN_PROCESS = ("access", "fuzz", "workflows", "workloads")
NO_POSTGRES = "POSTGRES_URL names no server: postgresql://user:password@host/postgres"
NO_CLUSTER = "neither KUBECONFIG= nor KUBERNETES_TESTBED=; see docs/kubernetes.md"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="a path below tests/, or words for -k")
    parser.add_argument("--all", action="store_true", help="what only CI and a release need")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # the parts are ended, too
    # Compiling the tests takes each process of a part ten seconds, so it is done only once.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    if options.only:
        return report(run_chosen(options.only))
    if code := browser.main():
        return code
    return report(run_rest() if options.all else run_quick())


def run_quick() -> list[Part]:
    """Run what ``make test`` runs.

    Browsers and the product wait often. The other tests have the lowest priority and take that
    time.
    """
    flows = pytest_part(
        "browser flows",
        f"e2e and not (extended or faults or {CLUSTER})",
        *ALONE,
        *marked("e2e"),
    )
    rest = pytest_part("no browser", f"not ({PRODUCT} or extended or {CLUSTER})", is_patient=True)
    with beside(flows):
        rest.run()
    return [rest, flows]


def run_chosen(only: str) -> list[Part]:
    """Run the tests that a path or words choose, except those that need a cluster."""
    parts = [pytest_part("no browser", f"not ({PRODUCT} or {CLUSTER})", *choose(only))]
    files = choose_marked(only, "e2e", "faults")
    if files and browser.main() == 0:
        marks = f"({PRODUCT}) and not ({CLUSTER})"
        parts.append(pytest_part("browser and faults", marks, *BY_FILE, *files))
    for part in parts:
        part.run()
    return parts


def run_rest() -> list[Part]:
    """Run what ``make test-all`` runs.

    Two parts have the lowest priority and take, one after the other, the time in which the rest
    waits. They start no processes: a process in a session of its own gets its full share of the
    processors, whatever its priority. The others follow each other: beside clusters, pages and jobs
    take longer than a test allows.
    """
    os.environ.setdefault("API_SECONDS", "20")
    # The same if it runs once more, or luck would hide what was found.
    os.environ.setdefault("FUZZ_SEED", str(secrets.randbelow(2**32)))
    postgres_url = os.environ.get("POSTGRES_URL", "")
    postgres = pytest_part(
        "PostgreSQL",
        f"not ({PRODUCT} or {CLUSTER})",
        "--database",
        *(str(HERE / path) for path in ON_POSTGRES),
        environment={"DATABASE_URL": postgres_url},
        is_patient=True,
        missing="" if postgres_url else NO_POSTGRES,
    )
    in_process = [path for path in marked("extended") if is_in_process(path)]
    matrices = pytest_part(
        "matrices and random rounds",
        f"extended and not ({PRODUCT} or {CLUSTER})",
        *in_process,
        is_patient=True,
    )
    product = pytest_part(
        "more processes and browsers, and faults",
        f"(faults or extended) and not ({CLUSTER})",
        *BY_FILE,
        *(path for path in marked("extended", "faults") if path not in in_process),
    )
    slurm = Part(
        "Slurm",
        ["-m", "tests.slurm"],
        limit=CLUSTER_SECONDS,
        missing="" if slurm_testbed.TOOL.exists() else slurm_testbed.NO_SLURM,
    )
    has_cluster = os.environ.get("KUBECONFIG") or kubernetes_testbed.TOOL.exists()
    kubernetes = Part(
        "Kubernetes",
        ["-m", "tests.kubernetes"],
        limit=CLUSTER_SECONDS,
        missing="" if has_cluster else NO_CLUSTER,
    )
    with beside(postgres, matrices):
        for part in (product, slurm, kubernetes):
            part.run()
    return [product, postgres, matrices, slurm, kubernetes]


def pytest_part(name: str, marks: str, *arguments: str, **options: Any) -> Part:
    """Return a part of tests with these marks."""
    return Part(name, [*PYTEST, "-m", marks, *arguments], **options)


def is_in_process(path: str) -> bool:
    """Whether the tests marked ``extended`` of a file start no process."""
    return any(Path(path).is_relative_to(HERE / folder) for folder in IN_PROCESS)


def choose(only: str) -> list[str]:
    """Return the arguments for pytest that select everything, a file or folder of tests, or what
    matches words."""
    if not only:
        return []
    path = HERE / only.removeprefix("tests/")
    return [str(path)] if path.exists() else ["-k", only]


def choose_marked(only: str, *marks: str) -> list[str]:
    """Return the same, restricted to files that name one of these marks. Empty if a path contains
    none."""
    files = marked(*marks)
    chosen = choose(only)
    if len(chosen) == 1:
        return [file for file in files if Path(file).is_relative_to(chosen[0])]
    return [*files, *chosen]


def marked(*marks: str) -> list[str]:
    """Return the test files that name one of these marks.

    With them, pytest need not collect all tests for the few of a part, which takes 30 seconds of a
    processor in each worker.
    """
    words = [f"mark.{mark}" for mark in marks]
    texts = ((path, path.read_text()) for path in sorted(HERE.rglob("test_*.py")))
    return [str(path) for path, text in texts if any(word in text for word in words)]


if __name__ == "__main__":
    sys.exit(main())
