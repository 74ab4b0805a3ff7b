#!/usr/bin/env python3
"""Prints the IPv4 address of a host in the layout of ``nslookup HOST``, which scripts cut apart: a
tab before the server's address, a blank before the only answer."""

import socket
import sys


def main() -> int:
    if len(sys.argv) != 2:
        sys.stderr.write("usage: nslookup HOST\n")
        return 2
    host = sys.argv[1]
    try:
        address = socket.getaddrinfo(host, None, socket.AF_INET)[0][4][0]
    except OSError:
        sys.stdout.write(f"** server can't find {host}: NXDOMAIN\n")
        return 1
    sys.stdout.write(
        f"Server:\t\tlocalhost\nAddress:\tlocalhost\n\nName:\t{host}\nAddress: {address}\n\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
