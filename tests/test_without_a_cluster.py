"""``make test-kubernetes`` where there is nothing to test on says how to get it."""

import sys
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests import kubernetes
from tests.__main__ import choose_marked

NAMES = ("KUBECONFIG", "KUBECONFIG_BESIDE", "KUBEBUILDER_ASSETS", "KUBEBUILDER_CRDS")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "setup-envtest"),
        ({"KUBECONFIG": "/nowhere/config"}, "KUBECONFIG: there is no /nowhere/config."),
        (
            {"KUBECONFIG": ".", "KUBECONFIG_BESIDE": "/nowhere"},
            "KUBECONFIG_BESIDE: there is no /nowhere.",
        ),
        ({"KUBEBUILDER_ASSETS": "/nowhere"}, "KUBEBUILDER_CRDS="),
        (
            {"KUBEBUILDER_ASSETS": ".", "KUBEBUILDER_CRDS": "."},
            "has no etcd, kube-apiserver, kubectl.",
        ),
    ],
)
def test_make_test_kubernetes_says_what_lacks(
    given: dict[str, str],
    told: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["kubernetes"])
    for name in NAMES:
        monkeypatch.setenv(name, given.get(name, ""))
    assert kubernetes.main() == 1
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("only", "files"),
    [("tests/fuzz/test_document.py", []), ("e2e/test_press.py", ["tests/e2e/test_press.py"])],
)
def test_a_path_chooses_the_files_below_it_that_name_a_mark(only: str, files: list[str]) -> None:
    assert choose_marked(only, "e2e", "faults") == [str(ROOT / file) for file in files]
    assert choose_marked("a gang", "e2e")[-2:] == ["-k", "a gang"]
