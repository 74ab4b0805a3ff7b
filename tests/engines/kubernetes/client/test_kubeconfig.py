"""What a text that is no kubeconfig is told."""

import pytest

from engines.kubernetes.client import kubeconfig


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [\nb", "not valid YAML. Look at line 2"),
        ("[" * 100_000, "nested too deeply"),
        ("9" * 5000, "a number or a date"),
        ("a: 2026-13-45", "a number or a date"),
        ("a: !!bool maybe", "a number or a date"),
        ("a: !!timestamp then", "a number or a date"),
        ("just words", "not a mapping"),
    ],
)
def test_yaml_that_is_no_mapping_is_refused_without_quoting_it(text: str, words: str) -> None:
    with pytest.raises(kubeconfig.UnfitYaml, match=words) as refused:
        kubeconfig.parse_kubeconfig(text)
    assert text not in str(refused.value)
