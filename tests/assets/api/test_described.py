"""The description of the API says what the ``spec`` of each asset holds."""

from typing import Any

import pytest

from config.rest.api import api
from tests.fuzz.bodies import ASSETS


@pytest.fixture(scope="module")
def paths() -> dict[str, Any]:
    described: dict[str, Any] = api.get_openapi_schema()["paths"]
    return described


@pytest.mark.parametrize("path", ASSETS)
def test_a_spec_is_described_with_its_fields_and_no_other(paths: dict[str, Any], path: str) -> None:
    collection = f"/api/v1/asset/{path}"
    for method, address in (("post", collection), ("put", f"{collection}/{{asset_id}}")):
        content = paths[address][method]["requestBody"]["content"]["application/json"]
        body = content["schema"]
        assert body["$ref"].startswith("#/components/schemas/Asset"), "what all kinds have"
        spec = body["properties"]["spec"]
        assert spec["additionalProperties"] is False
        assert spec["properties"].keys() >= ASSETS[path].keys()
        assert "$ref" not in str(spec), "it stands by itself"
        assert "name" not in spec["properties"]


def test_values_of_credentials_are_described_as_write_only(paths: dict[str, Any]) -> None:
    content = paths["/api/v1/asset/credentials/password"]["post"]["requestBody"]["content"]
    fields = content["application/json"]["schema"]["properties"]["spec"]["properties"]
    assert fields["password"]["writeOnly"] is True
    assert "writeOnly" not in fields["existingSecretName"]
