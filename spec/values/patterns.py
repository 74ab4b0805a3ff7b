"""Rules for texts that go to Kubernetes: as patterns, and in words for people."""

K8S_NAME = r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$"
POOL_NAME = r"^[a-z]([a-z0-9-]*[a-z0-9])?$"
QUEUE_NAME = r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$"
LABEL_KEY = r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
LABEL_VALUE = r"^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$"
WEB_ADDRESS = r"^https?://\S+$"
WEB_ADDRESS_ALONE = r"^https?://[^\s@]+$"
BUCKET = r"^[A-Za-z0-9][A-Za-z0-9._/-]*$"
SERVER = r"^[A-Za-z0-9][A-Za-z0-9.:_-]*$"
NUMBERS = r"^$|^[0-9]+(\s*,\s*[0-9]+)*$"
DATA_KEY = r"^[-._a-zA-Z0-9]+$"
MODE = r"^0[0-7]{3}$"

RULES = {
    K8S_NAME: "must contain only lower-case letters, digits, and - between them",
    POOL_NAME: "must contain only lower-case letters, digits, and - between them, starting "
    "with a letter",
    QUEUE_NAME: "must contain only lower-case letters, digits, and - . between them",
    LABEL_KEY: "must look like gpu-type or example.com/gpu-type, with letters, digits, - _ .",
    LABEL_VALUE: "must contain only letters, digits, and - _ . between them",
    WEB_ADDRESS: "must be a URL like https://host/path",
    WEB_ADDRESS_ALONE: "must be a URL like https://host, without a user",
    BUCKET: "must contain only letters, digits, and . _ / - behind the first",
    SERVER: "must be a host name or an address, without a path",
    DATA_KEY: "must contain only letters, digits, and - _ .",
    NUMBERS: "must be whole numbers, separated by commas",
    MODE: "must be four octal digits starting with 0, like 0644",
}


def pattern_with_message(pattern: str, words: str) -> str:
    """A pattern for a single parameter, with the words for values that do not match."""
    RULES[pattern] = words
    return pattern
