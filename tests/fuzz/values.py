"""Values that nobody sends by accident, and documents with such values."""

from random import Random
from typing import Any
from urllib.parse import quote, urlencode

NUL = "\0"
SURROGATE = "\ud800"
TEXTS = (
    "",
    " ",
    NUL,
    f"a{NUL}b",
    SURROGATE,
    f"a{SURROGATE}b",
    "9" * 400,
    "9" * 5000,
    "a" * 60_000,
    "%" * 300,
    "²",
    "٣",
    "-1",
    "1e400",
    "nan",
    "../../../etc/passwd",
    "'; DROP TABLE workloads_workload; --",
    '<script>alert("x")</script>',
    "\u2028\u202e\ufeff",
    "💥" * 50,
    "\r\nSet-Cookie: a=b",
    "{{ 7 * 7 }}",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "00000000-0000-0000-0000-000000000000",
    "name==a,phase==b",
    "name=@" + "a" * 60_000,
    "createdAt>=0001-01-01T00:00:00+14:00",
    "W10",
    "WyJcdTAwMDAiLCAiMDAwMS0wMS0wMVQwMDowMDowMCsxNDowMCIsICJ4Il0",
    "0.zzzzzzzzzzzzzzzzzzzz",
    "gpus:ge:1e17",
    "name:has:\ufffd",
    "created:within:99999 w",
)


def deep(levels: int = 500) -> Any:
    """Return a value that is nested so many levels deep."""
    value: Any = "x"
    for level in range(levels):
        value = {"a": value} if level % 2 else [value]
    return value


THINGS: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    10**30,
    -(2**63),
    1e308,
    float("nan"),
    float("inf"),
    [],
    {},
    [None],
    {"": ""},
    [[[]]],
    {"a" * 70_000: 1},
    {NUL: 1},
    {SURROGATE: [SURROGATE]},
    ["x"] * 2000,
    deep(),
)


def any_value(random: Random) -> Any:
    return random.choice(TEXTS) if random.random() < 0.6 else random.choice(THINGS)


def mutated(random: Random, document: Any) -> Any:
    """Return the document with one value or name changed, anywhere in it."""
    if not isinstance(document, dict | list) or not document or random.random() < 0.15:
        return any_value(random)
    if isinstance(document, list):
        at = random.randrange(len(document))
        return [mutated(random, item) if n == at else item for n, item in enumerate(document)]
    key = random.choice(list(document))
    if random.random() < 0.1:
        return {**document, str(random.choice(TEXTS)): any_value(random)}
    return {**document, key: mutated(random, document[key])}


def query_of(random: Random, names: tuple[str, ...]) -> str:
    """Return a query string with a few of these parameters."""
    chosen = random.sample(names, k=random.randint(1, min(3, len(names))))
    pairs = [(name, random.choice(TEXTS)) for name in chosen]
    return urlencode(pairs, quote_via=quote, errors="surrogatepass")
