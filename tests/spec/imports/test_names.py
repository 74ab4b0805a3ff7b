"""Names of jobs and files become names of workloads."""

import pytest

from spec.imports.names import derive_name, numbered_name
from spec.values.names import check_name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("ddp-test1", "ddp-test1"),
        ("7B_run", "run-7b"),
        ("2024-01_7B", "job-2024-01-7b"),
        ("42", "job-42"),
        ("Müller's Lauf", "muller-s-lauf"),
        ("--x--", "x"),
        ("訓練", ""),
        ("訓練 a", "a"),
        ("", ""),
        ("%x-%j", "x-j"),
        ("llama.13b/lr=3e-4", "llama-13b-lr-3e-4"),
    ],
)
def test_names_are_derived_with_letters_first(text: str, name: str) -> None:
    assert derive_name(text, longest=54) == name
    if name:
        assert check_name(name) == name


def test_a_long_name_loses_its_end() -> None:
    text = "pretrain-7b-context-4096-lr-3e-4-batch-2048-warmup-2000-seed-1234"
    name = derive_name(text, longest=54)
    assert name == "pretrain-7b-context-4096-lr-3e-4-batch-2048-warmup-200"
    assert numbered_name(name, 12, longest=54) == f"{name[:50]}-12"
    assert numbered_name("a-b", 2, longest=54) == "a-b-2"
    assert check_name(derive_name("a" * 52 + "--b", longest=54)) == "a" * 52 + "-b"
