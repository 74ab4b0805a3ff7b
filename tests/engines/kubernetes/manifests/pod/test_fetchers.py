"""The script that clones a repository, run here as it is run in a pod."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from engines.kubernetes.manifests.pod.fetchers import GIT_SCRIPT

GIT = shutil.which("git")
pytestmark = pytest.mark.skipif(GIT is None, reason="git is not installed")


def git(*words: str, at: Path) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.com"]
    found = subprocess.run(
        [str(GIT), *who, *words], cwd=at, check=True, capture_output=True, text=True
    )
    return found.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Two commits on ``main``, and a branch ``v2`` from the first of them."""
    made = tmp_path / "repository"
    made.mkdir()
    git("init", "--quiet", "--initial-branch=main", at=made)
    for text in ("one", "two"):
        (made / "file").write_text(text)
        git("add", "file", at=made)
        git("commit", "--quiet", "-m", text, at=made)
    git("branch", "v2", "HEAD~1", at=made)
    return made


def fetch(repository: Path, target: Path, **told: str) -> subprocess.CompletedProcess[str]:
    told = {"PATH": os.environ["PATH"], "TMPDIR": str(repository.parent), **told}
    env = told | {"REPOSITORY": str(repository), "TARGET": str(target)}
    return subprocess.run(
        ["/bin/sh", "-c", GIT_SCRIPT], env=env, capture_output=True, text=True, check=False
    )


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A volume in which an earlier try left something."""
    made = tmp_path / "target"
    (made / "half").mkdir(parents=True)
    return made


def test_the_newest_commit_is_fetched(repository: Path, target: Path) -> None:
    assert fetch(repository, target).returncode == 0
    assert (target / "file").read_text() == "two"
    assert not (target / "half").exists()


def test_a_branch_and_a_commit_are_fetched(repository: Path, target: Path) -> None:
    assert fetch(repository, target, BRANCH="v2").returncode == 0
    assert (target / "file").read_text() == "one"
    first = git("rev-parse", "main~1", at=repository)
    assert fetch(repository, target, REVISION=first).returncode == 0
    assert (target / "file").read_text() == "one"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a folder away")
def test_the_folder_may_belong_to_somebody_else(repository: Path, target: Path) -> None:
    os.chown(target, 1000, 1000)
    assert fetch(repository, target, REVISION="v2").returncode == 0
    assert (target / "file").read_text() == "one"


def test_a_branch_that_is_not_there_fails_with_the_words_of_git(
    repository: Path, target: Path
) -> None:
    found = fetch(repository, target, BRANCH="none")
    assert found.returncode != 0
    assert "none" in found.stderr


def test_values_are_never_run(repository: Path, target: Path, tmp_path: Path) -> None:
    found = fetch(repository, target, BRANCH=f"$(touch {tmp_path}/ran); `touch {tmp_path}/ran`")
    assert found.returncode != 0
    assert not (tmp_path / "ran").exists()


def test_a_password_is_asked_of_the_helper(repository: Path, target: Path) -> None:
    found = fetch(repository, target, GIT_USER="u", GIT_PASSWORD="p w")
    assert found.returncode == 0
    assert "p w" not in found.stdout + found.stderr
