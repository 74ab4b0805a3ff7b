"""Host names of tools on this machine."""


class ToolHosts:
    """The host names by which Trainyard serves the tools of one workload; use it with ``in``.

    Tools here ask for no token, because Trainyard checks who may open them. A request with another
    host name does not come from Trainyard, because any web site can point a name at this machine.
    """

    def __init__(self, workload: str, domain: str) -> None:
        self.end = f"-{workload.replace('-', '')}.{domain}"

    def __contains__(self, host: object) -> bool:
        return isinstance(host, str) and (host == "localhost" or host.endswith(self.end))
