"""Queries that are compiled to SQL once per database connection.

For queries that many requests make, Django takes longer to compile the SQL than the database to
answer it::

    @prepared
    def _active(pk: int) -> QuerySet[User]:
        return User.objects.filter(pk=pk, is_active=True)

``_active(7)`` then returns the list of rows. The function runs once, with placeholders in place of
its positional arguments; these may only be compared with a column. Anything that changes the query
itself, such as its columns, must be a keyword argument: there is one statement for each combination
of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, TypeVar, cast
from uuid import UUID

from django.core.exceptions import EmptyResultSet
from django.db import DEFAULT_DB_ALIAS, OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Model, QuerySet, Value
from django.db.models.query import get_related_populators
from django.db.models.sql.compiler import SQLCompiler

from core.database import raw
from core.text import LARGEST

P = ParamSpec("P")
M = TypeVar("M", bound=Model)

MOST_KEPT = 500  # statements per connection; some 20 KB each


class Placeholder(Value):
    """Marks the place of a positional argument; its value is the argument's number."""

    def as_sql(self, compiler: SQLCompiler, connection: Any) -> tuple[str, Any]:
        return "%s", [self]


def prepared(build: Callable[P, QuerySet[M]]) -> Callable[P, list[M]]:
    """Decorate a function that builds a queryset. Its keyword arguments must be hashable."""
    name = f"{build.__module__}.{build.__qualname__}"

    @wraps(build)
    def ask(*args: P.args, **kwargs: P.kwargs) -> list[M]:
        database = connections[DEFAULT_DB_ALIAS]
        kept = vars(database).setdefault("prepared", {})  # each thread has a connection of its own
        key = name, len(args), *kwargs.items()
        if key not in kept:
            if len(kept) >= MOST_KEPT:
                kept.clear()
            places = map(Placeholder, range(len(args)))
            queryset = cast(Callable[..., QuerySet[M]], build)(*places, **kwargs)
            try:
                kept[key] = PreparedQuery.of(queryset, database)
            except EmptyResultSet:  # the filter can never match
                return []
        return list(kept[key].rows(args))

    return ask


@dataclass(frozen=True)
class PreparedQuery:
    """The SQL of a queryset, and how its rows become objects, as Django's ``ModelIterable`` does
    it."""

    database: BaseDatabaseWrapper
    compiler: SQLCompiler
    sql: str
    params: Sequence[Any]
    model: type[Model]
    columns: slice
    names: list[str]
    annotations: dict[str, int]
    converters: Any
    related: Any

    @classmethod
    def of(cls, queryset: QuerySet[Any], database: BaseDatabaseWrapper) -> "PreparedQuery":
        compiler = queryset.query.get_compiler(connection=database)
        sql, params = compiler.as_sql()
        info, select = compiler.klass_info, compiler.select
        columns = slice(info["select_fields"][0], info["select_fields"][-1] + 1)
        return cls(
            database,
            compiler,
            sql,
            params,
            info["model"],
            columns,
            [column.target.attname for column, *_ in select[columns]],
            compiler.annotation_col_map,
            compiler.get_converters([column for column, *_ in select]),
            get_related_populators(info, select, database.alias),  # type: ignore[call-arg]
        )

    def rows(self, values: Sequence[Any]) -> Iterator[Model]:
        if any(isinstance(it, int) and it > LARGEST for it in values):
            return  # as in Django: no column holds such a number, so nothing matches
        fetched = self._fetched([self._param(it, values) for it in self.params])
        for row in self.compiler.apply_converters(fetched, self.converters):
            one = self.model.from_db(self.database.alias, self.names, row[self.columns])
            for populator in self.related:
                populator.populate(row, one)
            for name, position in self.annotations.items():
                setattr(one, name, row[position])
            yield one

    def _fetched(self, params: Sequence[Any]) -> list[Any]:
        """Execute the query. If it is the first of a request it doubles as the connection's health
        check, for which Django would send a query of its own; a broken connection is replaced once.
        """
        database: Any = self.database  # the stubs know nothing of health checks
        is_open = database.connection is not None and not database.in_atomic_block
        is_first = is_open and database.health_check_enabled and not database.health_check_done
        database.health_check_done |= is_first
        try:
            return self._ask(params)
        except OperationalError:
            if not is_first or database.is_usable():
                raise
            database.close()
        return self._ask(params)

    def _ask(self, params: Sequence[Any]) -> list[Any]:
        if raw.is_watched(self.database):
            with self.database.cursor() as cursor:
                cursor.execute(self.sql, params)
                return list(cursor.fetchall())
        return raw.ask(self.database, raw.marked(self.sql, self.database.vendor), params)

    def _param(self, it: Any, values: Sequence[Any]) -> Any:
        value = values[it.value] if isinstance(it, Placeholder) else it
        native = self.database.features.has_native_uuid_field
        return value.hex if isinstance(value, UUID) and not native else value
