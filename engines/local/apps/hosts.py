"""The names by which tools on this machine are reached."""


class ToolHosts:
    """The names below which Trainyard serves the tools of one workload, for ``host in``.

    Tools ask for no token here, because Trainyard asks who is there. Under any other name a
    request is not Trainyard's: anybody's web page may have its own name lead to this machine.
    """

    def __init__(self, workload: str, domain: str) -> None:
        self.end = f"-{workload.replace('-', '')}.{domain}"

    def __contains__(self, host: object) -> bool:
        return isinstance(host, str) and (host == "localhost" or host.endswith(self.end))
