"""``/webhooks/``: URLs that get messages about workloads."""

from django.urls import path

from notifications.webhooks import views

urlpatterns = [
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
