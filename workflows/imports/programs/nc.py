#!/usr/bin/env python3
"""Says whether a port is open, as ``nc -z HOST PORT`` does. Other uses of nc are refused."""

import argparse
import socket
import sys


def main() -> int:
    parser = argparse.ArgumentParser("nc", description="Say whether a port is open.")
    parser.add_argument("-z", action="store_true", required=True, help="only try to connect")
    parser.add_argument("-v", action="store_true", help="say what happened")
    parser.add_argument("-w", type=float, default=5, help="seconds to wait for an answer")
    parser.add_argument("host")
    parser.add_argument("port", type=int)
    options = parser.parse_args()
    try:
        socket.create_connection((options.host, options.port), timeout=options.w).close()
    except OSError as error:
        if options.v:
            sys.stderr.write(f"nc: {options.host} {options.port}: {error}\n")
        return 1
    if options.v:
        sys.stderr.write(f"nc: {options.host} {options.port}: open\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
