"""The Celery application: queues and the clock. Tasks live in each package's ``tasks.py``."""

import os

from celery import Celery

from config.heartbeat import WorkerPulse

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("trainyard")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["consumer"].add(WorkerPulse)
