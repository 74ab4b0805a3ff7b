"""``/notifications/``: what people are told, and what they subscribe to. ``/mail-server/``: the
server that sends emails. ``/webhooks/``: URLs that get messages about workloads."""

from django.urls import path

from notifications.channels import views as channels
from notifications.people import views as people
from notifications.webhooks import views

urlpatterns = [
    path("notifications/", people.listing, name="notification-list"),
    path("notifications/bell/", people.bell, name="notification-bell"),
    path("notifications/read/", people.mark_read, name="notification-read"),
    path("notifications/<int:pk>/", people.follow, name="notification-follow"),
    path("notifications/settings/", people.subscriptions, name="subscription-list"),
    path("notifications/settings/new/", people.subscribe, name="subscription-create"),
    path("notifications/settings/<uuid:pk>/edit/", people.edit, name="subscription-edit"),
    path("notifications/settings/<uuid:pk>/delete/", people.delete, name="subscription-delete"),
    path("mail-server/", channels.edit, name="mail-server"),
    path("mail-server/delete/", channels.delete, name="mail-server-delete"),
    path("webhooks/", views.listing, name="webhook-list"),
    path("webhooks/new/", views.create, name="webhook-create"),
    path("webhooks/<uuid:pk>/", views.detail, name="webhook-detail"),
    path("webhooks/<uuid:pk>/edit/", views.edit, name="webhook-edit"),
    path("webhooks/<uuid:pk>/delete/", views.delete, name="webhook-delete"),
    path("webhooks/<uuid:pk>/secret/", views.renew_secret, name="webhook-secret"),
    path("webhooks/<uuid:pk>/test/", views.test, name="webhook-test"),
    path("webhooks/<uuid:pk>/deliveries/<uuid:delivery>/", views.delivery, name="webhook-delivery"),
    path(
        "webhooks/<uuid:pk>/deliveries/<uuid:delivery>/resend/",
        views.resend,
        name="webhook-resend",
    ),
]
