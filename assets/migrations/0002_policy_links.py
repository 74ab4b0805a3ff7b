import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('assets', '0001_initial'),
        ('policies', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='PolicyAsset',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('kind', models.CharField(max_length=40)),
                ('asset_id', models.UUIDField()),
                ('role', models.CharField(blank=True, max_length=20)),
                ('policy', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='assets', to='policies.policy')),
            ],
            options={
                'indexes': [models.Index(fields=['kind', 'asset_id'], name='policy_asset')],
                'constraints': [models.UniqueConstraint(fields=('policy', 'role', 'kind', 'asset_id'), name='policy_asset_once')],
            },
        ),
    ]
