"""Credentials may be one person's own: their names are theirs."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0013_files'),
        ('clusters', '0003_installation'),
        ('projects', '0003_default_node_pools'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='credential',
            name='credential_name_in_account',
        ),
        migrations.AddField(
            model_name='credential',
            name='owner',
            field=models.ForeignKey(blank=True, editable=False, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='own_credentials', to=settings.AUTH_USER_MODEL),
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.UniqueConstraint(condition=models.Q(('scope', 'account'), ('owner', None)), fields=('name',), name='credential_name_in_account'),
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.UniqueConstraint(condition=models.Q(('owner', None), _negated=True), fields=('owner', 'name'), name='credential_name_of_owner'),
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.CheckConstraint(condition=models.Q(('owner', None), ('scope', 'account'), _connector='OR'), name='own_credential_everywhere'),
        ),
    ]
