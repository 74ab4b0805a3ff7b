"""Packages that a program needs are named before the submission, with the command for them."""

import sys
from pathlib import Path
from typing import Any

import pytest

from engines.local.apps.install import READY
from engines.local.planning import packages
from engines.local.planning.lookup import Programs
from spec.formats.documents import load_spec
from spec.framework import Framework


def lacking(folder: Path, framework: Framework, **worker: Any) -> dict[str, str]:
    images = {"example/*:*": ["{app}", "xgboost", str(folder), "localhost"]}
    spec = load_spec({"distributedFramework": framework, "worker": {"image": "a/b:1"} | worker})
    return {lack.field: lack.message for lack in packages.lacking_packages(spec, Programs(images))}


def test_an_image_whose_packages_are_missing_says_how_to_install_them(tmp_path: Path) -> None:
    found = lacking(tmp_path, Framework.XGBOOST, image="example/iris:1")
    message = found["worker.image"]
    assert message.startswith("needs XGBoost, which is not installed on this machine")
    assert f"-m engines.local.apps.install xgboost {tmp_path / 'xgboost'} installs it" in message
    (tmp_path / "xgboost").mkdir()
    (tmp_path / "xgboost" / READY).touch()
    assert lacking(tmp_path, Framework.XGBOOST, image="example/iris:1") == {}


def test_a_program_of_our_python_says_which_framework_that_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    message = lacking(tmp_path, Framework.JAX, command="python train.py")["worker.command"]
    assert f"has no JAX; the command {sys.executable} -m pip install 'jax>=0.6,<1'" in message
    monkeypatch.setattr(packages, "find_spec", lambda _: object())
    assert lacking(tmp_path, Framework.JAX, command="python train.py") == {}


@pytest.mark.parametrize(
    "worker",
    [
        {"command": "/opt/conda/bin/python train.py"},
        {"command": "bash train.sh"},
        {
            "command": "python train.py",
            "environmentVariables": [{"name": "PYTHONPATH", "value": "/opt/packages"}],
        },
    ],
)
def test_nothing_is_guessed_about_other_programs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, worker: dict[str, Any]
) -> None:
    monkeypatch.setattr(packages, "find_spec", lambda _: None)
    assert lacking(tmp_path, Framework.TENSORFLOW, **worker) == {}
