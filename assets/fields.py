"""The column of a document that ``spec/`` describes."""

from typing import Any

from django.db.models.fields.json import KeyTransform
from pydantic import BaseModel

from core.database.fields import JSONField
from spec import versions


class DocumentField(JSONField):
    """A document of a ``model`` in ``spec/``. The column holds its version, too: reading lifts an
    older document to the current version, and saving stores the current one.

    Lookups by keys, such as ``spec_json__category``, see documents as they are stored. Migrations
    see a ``JSONField``, so a new version makes no migration.
    """

    def __init__(self, model: type[BaseModel] = BaseModel, **options: Any) -> None:
        super().__init__(**options)
        self.document_model = model

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        return super().get_db_prep_save(versions.with_version(value), connection)

    def from_db_value(self, value: Any, expression: Any, connection: Any) -> Any:
        document = super().from_db_value(value, expression, connection)
        is_whole_document = not isinstance(expression, KeyTransform)
        return (
            versions.upgrade_document(document, self.document_model)
            if is_whole_document
            else document
        )

    def deconstruct(self) -> Any:
        name, _, args, kwargs = super().deconstruct()
        return name, "django.db.models.JSONField", args, kwargs
