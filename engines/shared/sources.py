"""Messages about data sources that could not be fetched, on any cluster. Pure."""


def repository_failed(origin: str, place: str, *, at: str, opened: bool) -> str:
    """Return a message about a repository; what git says follows it.

    ``at`` is the requested branch or revision. ``opened`` says that a credential was used.
    """
    check = "its address, its credential," if opened else "its address,"
    return (
        f"The repository {origin}{' at ' * bool(at)}{at} could not be fetched for {place}. Check "
        f"{check} and the branch or revision. git:"
    )


def bucket_failed(origin: str, place: str, *, url: str, opened: bool) -> str:
    """Return a message about a bucket; what the service says follows it. An empty ``url`` means
    AWS."""
    check = "its name, the service URL and the credential"
    if not opened:
        check = "its name and the service URL, and choose a credential if it is not public"
    at = f" of {url}" if url else ""
    return f"The bucket {origin}{at} could not be fetched for {place}. Check {check}. S3:"
