"""Calls about notifications and subscriptions, by NVIDIA's client."""

from django.core import mail
from runai import models

from projects.models import Project
from tests.runapy.conftest import RunaiCaller


def walk(runai: RunaiCaller, project: Project) -> None:
    """Make all of these calls."""
    types = runai("NotificationTypesApi.get_notification_types", takes="NotificationType")
    state = runai("NotificationStateApi.get_notification_state", takes="NotificationState")
    assert (state["enabled"], state["email"]) == (True, {"enabled": False})
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
    takes = "NotificationChannelResponse"
    config = models.NotificationChannelConfig(
        smtp_host="smtp.example.com",
        var_from="trainyard@example.com",
        username="trainyard",
        password="zanzibar",
        smtp_tls_enabled=True,
    )
    channel = models.NotificationChannel(type="email", config=config)
    made = runai(f"{api}.create_notification_channel_config", channel, takes=takes)
    (listed,) = runai(f"{api}.get_notification_channels", takes="NotificationChannelMeta")
    assert listed == {"name": made["name"], "type": "email"}
    test = config.model_copy(update={"recipients": ["ada@example.com"]})
    tested = models.NotificationChannelForValidate(type="email", config=test)
    runai(f"{api}.validate_notification_channel", tested)
    assert [email.to for email in mail.outbox] == [["ada@example.com"]]
    runai(f"{api}.update_notification_channel_config", "email", channel, takes=takes)
    part = models.NotificationChannelConfig(smtp_port=2525)
    change = models.NotificationChannelForPatch(type="email", config=part)
    runai(f"{api}.patch_notification_channel_config", "email", change, takes=takes)
    read = runai(f"{api}.get_notification_channel_config", "email", takes=takes)["config"]
    assert (read["smtpHost"], read["smtpPort"]) == ("smtp.example.com", 2525)
    assert "zanzibar" not in str(read)
    off = models.NotificationState(
        enabled=True, email=models.EmailNotificationsState(enabled=False)
    )
    state = runai("NotificationStateApi.update_notification_state", off, takes="NotificationState")
    assert state["email"] == {"enabled": False}
    address = models.NotificationChannelConfig(api_token="https://hooks.slack.com/services/T/B/x")
    slack = models.NotificationChannel(type="slack", config=address)
    runai(f"{api}.create_notification_channel_config", slack, takes=takes)
    for name in ("email", "slack"):
        runai(f"{api}.delete_notification_channel_config", name)
    assert runai(f"{api}.get_notification_channels") == []
