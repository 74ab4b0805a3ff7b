"""Variables that refer to others, and what Kubernetes makes of them."""

from spec.values.variable import EnvironmentVariable

VALUES = {
    "A": "one",
    "B": "$(A)-two",
    "CHAIN": "$(B)-three",
    "ESCAPED": "$$(A)",
    "DOUBLY_ESCAPED": "$$$(A)",
    "PRICE": "5$$ or $5",
    "EARLY": "$(LATE)",
    "LATE": "late",
    "UNKNOWN": "$(NOBODY_SET_THIS)",
    "UNCLOSED": "$(A",
    "OF_RENDEZVOUS": "$(MASTER_ADDR)",
    "OF_PLATFORM": "$(JOB_NAME)!",
    "API_TOKEN": "s3cr3t$(A)$$",
    "AUTHORIZATION": "Bearer $(API_TOKEN)",
    "PEM": "-----BEGIN-----\n$(A)\n-----END-----\n",
    "SHELL_TEXT": "$HOME `date` \"'\\\\",
}
VARIABLES = tuple(EnvironmentVariable(name=name, value=value) for name, value in VALUES.items())
EXPANDED = VALUES | {
    "B": "one-two",
    "CHAIN": "one-two-three",
    "ESCAPED": "$(A)",
    "DOUBLY_ESCAPED": "$one",
    "PRICE": "5$ or $5",
    "AUTHORIZATION": "Bearer s3cr3t$(A)$$",
    "PEM": "-----BEGIN-----\none\n-----END-----\n",
}


def expanded_values(job_name: str) -> dict[str, str]:
    """Return what a program sees in a workload of this name."""
    return EXPANDED | {"OF_PLATFORM": f"{job_name}!"}
