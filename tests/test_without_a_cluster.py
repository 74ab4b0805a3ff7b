"""``make test-kubernetes`` where there is nothing to test on says how to get it."""

import sys
from pathlib import Path

import pytest

from config.run.install import ROOT
from tests import kubernetes
from tests.__main__ import choose_marked


@pytest.mark.parametrize(
    ("kubeconfig", "code", "hint"),
    [
        ("", 0, "KUBERNETES_TESTBED"),
        ("/nowhere/config", 1, "KUBECONFIG: there is no /nowhere/config."),
    ],
)
def test_make_test_kubernetes_says_what_is_missing(
    kubeconfig: str,
    code: int,
    hint: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["kubernetes"])
    monkeypatch.setattr(kubernetes, "TOOL", Path("/nowhere/k8s"))
    monkeypatch.setenv("KUBECONFIG", kubeconfig)
    assert kubernetes.main() == code
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    ("only", "files"),
    [("tests/fuzz/test_document.py", []), ("e2e/test_press.py", ["tests/e2e/test_press.py"])],
)
def test_a_path_chooses_the_files_below_it_that_name_a_mark(only: str, files: list[str]) -> None:
    assert choose_marked(only, "e2e", "faults") == [str(ROOT / file) for file in files]
    assert choose_marked("a gang", "e2e")[-2:] == ["-k", "a gang"]
