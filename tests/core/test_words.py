"""Words made of values."""

import pytest
from pytest_django import DjangoAssertNumQueries

from accounts.models import UserGroup
from core.templatetags.core import breakable
from core.words import count_nouns, first_names, name_first_three


@pytest.mark.parametrize(
    ("names", "words"),
    [([], ""), (["a"], "a"), (["a", "b", "c"], "a, b, c"), (list("abcd"), "a, b, c and others")],
)
def test_some_names_are_said_and_whether_there_are_others(names: list[str], words: str) -> None:
    assert name_first_three(names) == words


@pytest.mark.django_db
def test_some_rows_are_named_in_the_order_of_their_names(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for name in ("d", "b", "a", "c"):
        UserGroup.objects.create(name=name)
    with django_assert_num_queries(1) as queries:
        assert (
            name_first_three(first_names(UserGroup.objects.order_by("-name")))
            == "a, b, c and others"
        )
    assert queries.captured_queries[0]["sql"].endswith("LIMIT 4"), "of thousands, too"
    assert first_names(UserGroup.objects.none()) == []


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([(0, "workload")], ""),
        ([(1, "workload"), (0, "template")], "1 workload"),
        ([(3, "workload"), (1, "template")], "3 workloads and 1 template"),
        ([(1, "a"), (2, "b"), (3, "c")], "1 a, 2 bs and 3 cs"),
    ],
)
def test_counts_have_their_nouns(counts: list[tuple[int, str]], words: str) -> None:
    assert count_nouns(counts) == words


def test_a_heading_may_break_after_its_slash_and_stays_text() -> None:
    assert breakable("Running/requested pods") == "Running/<wbr>requested pods"
    assert breakable("<b>") == "&lt;b&gt;"
