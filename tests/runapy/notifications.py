"""Calls about notifications and subscriptions, by NVIDIA's client."""

from django.test import override_settings
from runai import models

from projects.models import Project
from tests.runapy.conftest import RunaiCaller


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    types = runai("NotificationTypesApi.get_notification_types", takes="NotificationType")
    state = runai("NotificationStateApi.get_notification_state", takes="NotificationState")
    assert (state["enabled"], state["email"]) == (True, {"enabled": False})
    with override_settings(EMAIL_HOST="smtp.example.com"):
        _channels(runai)
    event = models.SubscriptionEvent(category=types[0]["category"], types=[types[0]["type"]])
    request = models.Subscription(events=[event], channels=[])
    made = runai("SubscriptionsApi.create_subscription", request, takes="Subscription")
    listed = runai("SubscriptionsApi.get_my_subscriptions", takes="Subscription")
    assert listed == [made]
    change = models.SubscriptionForPut(events=[], channels=[])
    update = "SubscriptionsApi.update_subscription"
    changed = runai(update, made["id"], change, takes="Subscription")
    assert changed["events"] == []
    runai("SubscriptionsApi.delete_subscription", made["id"])
    assert runai("SubscriptionsApi.get_my_subscriptions") == []


def _channels(runai: RunaiCaller) -> None:
    api = "NotificationChannelsApi"
    (channel,) = runai(f"{api}.get_notification_channels", takes="NotificationChannelMeta")
    get = f"{api}.get_notification_channel_config"
    config = runai(get, channel["name"], takes="NotificationChannelResponse")["config"]
    assert (config["smtpHost"], config["smtpPort"]) == ("smtp.example.com", 587)
    assert "password" not in config
