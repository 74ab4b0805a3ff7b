"""Signs in by a code that a person approves in the browser."""

import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING

from trainyard_cli.errors import CliError, ExitCode
from trainyard_cli.show import Item

if TYPE_CHECKING:
    from trainyard_cli.rest.client import RestClient

BEGIN, COLLECT = "/device-sign-ins", "/device-sign-ins/key"


def by_code(client: "RestClient", title: str) -> Item:
    """Print an address and a code, wait for the approval, and return the new access key.

    The key is that of the person who approves it, and has their ``username``. ``title`` names this
    machine there. Raises ``CliError`` if nobody approves in time.
    """
    begun = client.open_post(BEGIN, {"name": title})
    print(f"Open   {begun['verificationUriComplete']}", file=sys.stderr)
    print(f"and approve the code {begun['userCode']}", file=sys.stderr, flush=True)
    ends = monotonic() + begun["expiresIn"]
    while monotonic() < ends:
        answer: Item = client.open_post(COLLECT, {"deviceCode": begun["deviceCode"]})
        if "clientSecret" in answer:
            return answer
        sleep(begun["interval"])
    raise CliError("Nobody approved the code in time.", "Try again.", code=ExitCode.SIGNED_OUT)
