"""A product whose people come from an identity provider."""

import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer

import httpx
import pytest

from tests.accounts.oidc.provider import Provider
from tests.product import Trainyard


@pytest.fixture(scope="package")
def provider() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="package")
def trainyard(tmp_path_factory: pytest.TempPathFactory, provider: str) -> Iterator[Trainyard]:
    trainyard = Trainyard(
        tmp_path_factory.mktemp("home"),
        OIDC_URL=provider,
        OIDC_NAME="Lab",
        OIDC_CLIENT_ID="trainyard",
        OIDC_CLIENT_SECRET="secret",
    )
    trainyard.start()
    yield trainyard
    trainyard.stop()


@pytest.fixture
def browser(trainyard: Trainyard) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=trainyard.url, follow_redirects=True, timeout=20) as client:
        yield client
