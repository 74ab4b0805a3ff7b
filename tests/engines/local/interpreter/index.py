"""A package index on loopback that is slow, breaks off or refuses on request.

Its packages have the names and versions of the real ones, and are stand-ins of a few hundred
kilobytes: the real ones take gigabytes.
"""

import hashlib
import io
import re
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from engines.local.interpreter.choice import requirements

WHEEL = "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
TORCH = """\
__version__ = "{version}"
class version:
    cuda = None
class cuda:
    device_count = staticmethod(lambda: 0)
"""
PADDING = 300_000  # bytes, which compression does not shrink


def make_wheel(name: str, version: str, module: str, source: str) -> bytes:
    info = f"{name.replace('-', '_')}-{version}.dist-info"
    files = {
        f"{module}/__init__.py": source,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": WHEEL,
    }
    files[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*files, f"{info}/RECORD"])
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as wheel:
        for path, text in files.items():
            wheel.writestr(path, text)
        wheel.writestr(f"{module}/padding", bytes(range(256)) * (PADDING // 256))
    return content.getvalue()


@dataclass
class Index:
    """The index. ``before_piece`` runs before each piece of a file; a ``ConnectionResetError``
    of it ends the connection. ``status`` is the answer to requests for files if it is not 200.
    With an ``authorization``, requests need that header."""

    files: dict[str, bytes] = field(default_factory=dict)
    before_piece: Callable[[], None] = lambda: None
    status: int = 200
    authorization: str = ""
    sent: dict[str, int] = field(default_factory=dict)
    url: str = ""

    def __post_init__(self) -> None:
        for requirement in requirements():
            name, _, version = requirement.partition("==")
            module = {"scikit-learn": "sklearn"}.get(name, name)
            source = TORCH.format(version=version) if name == "torch" else ""
            file = f"{name.replace('-', '_')}-{version}-py3-none-any.whl"
            self.files[file] = make_wheel(name, version, module, source)

    @property
    def total(self) -> int:
        return sum(map(len, self.files.values()))

    def page_of(self, package: str) -> str:
        prefix = package.replace("-", "_") + "-"
        links = [
            f'<a href="/files/{name}#sha256={hashlib.sha256(content).hexdigest()}"'
            f' data-core-metadata="true">{name}</a>'
            for name, content in self.files.items()
            if name.startswith(prefix)
        ]
        return "\n".join(links)

    def metadata_of(self, name: str) -> bytes:
        with zipfile.ZipFile(io.BytesIO(self.files[name])) as wheel:
            path = next(it for it in wheel.namelist() if it.endswith("/METADATA"))
            return wheel.read(path)


def serve(index: Index) -> ThreadingHTTPServer:
    """Start to serve the index, and set its address."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"  # a connection for each request, which can break off

        def log_message(self, *words: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer(with_body=False)

        def do_GET(self) -> None:
            self.answer(with_body=True)

        def answer(self, *, with_body: bool) -> None:
            if index.authorization and self.headers["Authorization"] != index.authorization:
                self.send(401, b"", {"WWW-Authenticate": 'Basic realm="packages"'})
                return
            if page := re.fullmatch(r"/simple/([^/]+)/", self.path):
                content = index.page_of(page[1]).encode()
                self.send(200, content if with_body else b"", {"Content-Type": "text/html"})
                return
            name = self.path.removeprefix("/files/")
            if name.endswith(".metadata"):
                self.send(200, index.metadata_of(name.removesuffix(".metadata")), {})
                return
            if index.status != 200:
                self.send(index.status, b"", {})
                return
            content = index.files[name]
            begin = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
            first = int(begin[1]) if begin else 0
            self.send_response(206 if begin else 200)
            self.send_header("Content-Length", str(len(content) - first))
            self.end_headers()
            for at in range(first, len(content) if with_body else 0, 50_000):
                try:
                    index.before_piece()
                except ConnectionResetError:
                    return
                piece = content[at : at + 50_000]
                self.wfile.write(piece)
                index.sent[name] = index.sent.get(name, 0) + len(piece)

        def send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(content))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    index.url = f"http://127.0.0.1:{server.server_port}/simple"
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
