"""The row of data sources in the table of kinds."""

from assets.base import AssetKind
from assets.data_source import card
from assets.data_source.form import KINDS, DataSourceForm, blank, initial
from assets.data_source.model import DataSource
from assets.data_source.wire import WIRE
from spec import data_source

DATA_SOURCE = AssetKind(
    slug="data-source",
    path="data-sources",
    model=DataSource,
    noun="data source",
    title="Data sources",
    lead="Where data is, and where pods find it: a claim, a share, a bucket, a repository.",
    icon="database",
    copy_verb="Make a copy",
    form=DataSourceForm,
    initial=initial,
    blank=blank,
    card=card.draw,
    part=data_source.DataSourceSpec,
    fields="assets/data_source_fields.html",
    chip="Type",
    types=KINDS,
    stays_while_used=True,
    wire=WIRE,
)
