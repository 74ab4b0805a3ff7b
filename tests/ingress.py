"""Runs Debian's nginx, configured for Ingresses as ingress-nginx configures it by their
annotations."""

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from websockets.http11 import Request, Response
from websockets.sync.server import ServerConnection, serve

from engines.base import Manifest
from engines.kubernetes.manifests.tools import NGINX as ANNOTATION
from tests.product import free_port
from tests.waiting import wait_for

NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")

#: One process that writes only into its folder, whichever user starts it.
WHOLE = """\
daemon off;
master_process off;
pid {folder}/pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  proxy_http_version 1.1;
  map $http_upgrade $connection_upgrade {{ default upgrade; '' ''; }}
{servers}
}}
"""
#: The controller also escapes the value of ``rd=``, which plain nginx cannot do.
SERVER = """\
  server {{
    listen 127.0.0.1:{port};
    server_name {host};
    location = /_external-auth {{
      internal;
      proxy_pass_request_body off;
      proxy_set_header Content-Length "";
      proxy_set_header X-Forwarded-Proto "";
      proxy_set_header Host {asked};
      proxy_set_header X-Original-URL $scheme://$http_host$request_uri;
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Sent-From "nginx-ingress-controller";
      proxy_set_header X-Real-IP $remote_addr;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Auth-Request-Redirect $request_uri;
      proxy_buffering off;
      proxy_buffer_size {buffer};
      proxy_buffers 4 {buffer};
      set $target {auth};
      proxy_pass $target;
    }}
    location @signin {{
      internal;
      add_header Set-Cookie $auth_cookie;
      return 302 {signin}?rd=$scheme://$http_host$request_uri;
    }}
    location / {{
      auth_request /_external-auth;
      auth_request_set $auth_cookie $upstream_http_set_cookie;
      add_header Set-Cookie $auth_cookie{always};
      {passed}
      error_page 401 = @signin;
      proxy_set_header Host $http_host;
      proxy_set_header Upgrade $http_upgrade;
      proxy_set_header Connection $connection_upgrade;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Forwarded-Host $http_host;
      proxy_set_header X-Forwarded-Proto $scheme;
      proxy_read_timeout {patience}s;
      proxy_pass http://127.0.0.1:{backend};
    }}
  }}
"""


def host_of(ingress: Manifest) -> str:
    """Return the host of an Ingress."""
    return str(ingress["spec"]["rules"][0]["host"])


def _server(ingress: Manifest, port: int, backend: int) -> str:
    told: Mapping[str, str] = ingress["metadata"]["annotations"]
    auth = told[f"{ANNOTATION}/auth-url"]
    headers = told[f"{ANNOTATION}/auth-response-headers"].split(",")
    keeps = told[f"{ANNOTATION}/auth-always-set-cookie"] == "true"
    return SERVER.format(
        port=port,
        host=host_of(ingress),
        asked=urlsplit(auth).netloc,
        auth=auth,
        signin=told[f"{ANNOTATION}/auth-signin"],
        always=" always" if keeps else "",
        passed=" ".join(map(_passed, enumerate(headers))),
        patience=told[f"{ANNOTATION}/proxy-read-timeout"],
        buffer=told[f"{ANNOTATION}/proxy-buffer-size"],
        backend=backend,
    )


def _passed(header: tuple[int, str]) -> str:
    """How a header of the answer to the question goes on to the tool."""
    number, name = header
    variable = name.lower().replace("-", "_")
    taken = f"auth_request_set $authHeader{number} $upstream_http_{variable};"
    return f"{taken} proxy_set_header '{name}' $authHeader{number};"


@contextmanager
def controller(ingresses: list[Manifest], folder: Path, backend: int) -> Iterator[int]:
    """Serve all Ingresses from the port ``backend`` of this machine, and yield the port where nginx
    listens."""
    assert NGINX, "nginx is not installed"
    port = free_port()
    servers = "".join(_server(ingress, port, backend) for ingress in ingresses)
    config = folder / "nginx.conf"
    config.write_text(WHOLE.format(folder=folder, servers=servers))
    process = subprocess.Popen([NGINX, "-e", "stderr", "-c", str(config), "-p", str(folder)])
    try:
        wait_for(lambda: process.poll() is not None or _answers(port), 20, "nginx to answer")
        assert process.poll() is None, (folder / "error.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(10)


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def page(connection: ServerConnection, request: Request) -> Response | None:
    """Answer a request with a page that has its path, unless it opens a websocket."""
    if "Upgrade" in request.headers:
        return None
    cookies = request.headers.get("Cookie")
    also = f" with {cookies}" if cookies else ""
    return connection.respond(HTTPStatus.OK, f"the tool's {request.path}{also}")


@contextmanager
def upstream() -> Iterator[int]:
    """Serve what a pod would: a page at every path, and a websocket that says hello. Yields its
    port."""
    with serve(lambda opened: opened.send("hello"), "127.0.0.1", 0, process_request=page) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.socket.getsockname()[1]
