"""``python -m engines.local.apps.board --logdir=…``: TensorBoard, reachable only by the host names
of its workload's tools. It runs in the environment in which TensorBoard is installed."""

import os
import sys
from collections.abc import Callable, Container, Iterable
from importlib import import_module
from typing import Any

from engines.local.apps.hosts import ToolHosts

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


def guard_hosts(served: Application, hosts: Container[object]) -> Application:
    """Wrap an application to refuse requests for other host names."""

    def answer(request: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if str(request.get("HTTP_HOST", "")).partition(":")[0] in hosts:
            return served(request, start)
        start("403 Forbidden", [("Content-Type", "text/plain")])
        return [b"This is not an address of this TensorBoard.\n"]

    return answer


def main(argv: list[str]) -> None:
    program = import_module("tensorboard.program")
    hosts = ToolHosts(os.environ["JOB_UUID"], os.environ["TOOLS_DOMAIN"])

    def serve(application: Application, flags: Any) -> Any:
        return program.WerkzeugServer(guard_hosts(application, hosts), flags)

    plugins = import_module("tensorboard.default").get_plugins()
    board = program.TensorBoard(plugins=plugins, server_class=serve)
    board.configure(argv)
    board.main()


if __name__ == "__main__":
    main(sys.argv)
