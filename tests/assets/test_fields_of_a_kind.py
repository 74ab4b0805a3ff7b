"""A form with kinds shows the fields of the chosen one alone, and needs a rule of CSS for each."""

import pytest

from config.run.install import ROOT
from spec.data.credential import CredentialKind
from spec.data.data_source import SourceKind


@pytest.mark.parametrize("kind", [*CredentialKind, *SourceKind])
def test_the_fields_of_other_kinds_are_hidden(kind: str) -> None:
    css = (ROOT / "static/css/components.css").read_text()
    assert f'.by-kind:has([value="{kind}"]:checked) > .of-kind:not([data-kind="{kind}"])' in css
