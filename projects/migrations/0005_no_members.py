from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("projects", "0004_members")]
    operations = [migrations.RemoveField(model_name="project", name="members")]
