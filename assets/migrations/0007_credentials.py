"""Credentials; and variables of environments say that they take nothing from one."""

import core.database.fields
import django.db.models.deletion
import projects.scopes
import uuid
from django.conf import settings
from django.db import migrations, models


def add_to_variables(apps, schema_editor):
    rows = apps.get_model('assets', 'Environment').objects.using(schema_editor.connection.alias)
    for row in rows.only('spec_json').iterator():
        variables = row.spec_json.get('environmentVariables') if isinstance(row.spec_json, dict) else None
        if not isinstance(variables, list) or not variables:
            continue
        row.spec_json['environmentVariables'] = [
            {'credential': None, **item} if isinstance(item, dict) else item for item in variables
        ]
        row.save(update_fields=['spec_json'])


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0006_data_source'),
        ('clusters', '0003_installation'),
        ('projects', '0002_project_rank'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Credential',
            fields=[
                ('scope', models.CharField(choices=projects.scopes.scopes, default='project', max_length=20)),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=63)),
                ('description', models.CharField(blank=True, max_length=250)),
                ('created_at', models.DateTimeField(auto_now_add=True)),
                ('updated_at', models.DateTimeField(auto_now=True)),
                ('spec_json', models.JSONField(default=dict)),
                ('values_version', models.PositiveIntegerField(default=0, editable=False)),
                ('cluster', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='clusters.cluster')),
                ('created_by', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('department', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='projects.department')),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='%(class)ss', to='projects.project')),
            ],
            options={
                'ordering': ['name'],
            },
        ),
        migrations.CreateModel(
            name='SecretValue',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('key', models.CharField(max_length=253)),
                ('value', core.database.fields.EncryptedTextField()),
                ('credential', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='secret_values', to='assets.credential')),
            ],
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.UniqueConstraint(condition=models.Q(('scope', 'account')), fields=('name',), name='credential_name_in_account'),
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.UniqueConstraint(condition=models.Q(('scope', 'cluster')), fields=('cluster', 'name'), name='credential_name_in_cluster'),
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.UniqueConstraint(condition=models.Q(('scope', 'department')), fields=('department', 'name'), name='credential_name_in_department'),
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.UniqueConstraint(condition=models.Q(('scope', 'project')), fields=('project', 'name'), name='credential_name_in_project'),
        ),
        migrations.AddConstraint(
            model_name='credential',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('cluster', None), ('scope', 'account')), models.Q(models.Q(('scope', 'account'), _negated=True), models.Q(('cluster', None), _negated=True)), _connector='OR'), name='credential_in_a_cluster'),
        ),
        migrations.AddConstraint(
            model_name='secretvalue',
            constraint=models.UniqueConstraint(fields=('credential', 'key'), name='one_value_of_a_key'),
        ),
        migrations.RunPython(add_to_variables, migrations.RunPython.noop, elidable=True),
    ]
