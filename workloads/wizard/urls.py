from django.urls import URLPattern, path

from workloads.wizard import template_views, views, yaml_views

urlpatterns: list[URLPattern] = [
    path("workloads/new/", views.workload_new, name="workload-new"),
    path("workloads/drafts/<uuid:pk>/<int:step>/", views.draft_step, name="draft-step"),
    path(
        "workloads/drafts/<uuid:pk>/<int:step>/gallery/<slug:name>/",
        views.draft_gallery,
        name="draft-gallery",
    ),
    path("workloads/drafts/<uuid:pk>/people/", views.draft_people, name="draft-people"),
    path(
        "workloads/drafts/<uuid:pk>/credentials/",
        views.draft_credentials,
        name="draft-credentials",
    ),
    path("workloads/drafts/<uuid:pk>/yaml/", yaml_views.draft_yaml, name="draft-yaml"),
    path("workloads/drafts/<uuid:pk>/discard/", views.draft_discard, name="draft-discard"),
    path(
        "workloads/drafts/<uuid:pk>/template/",
        template_views.draft_template,
        name="draft-template",
    ),
    path(
        "workloads/<uuid:pk>/template/", template_views.workload_template, name="workload-template"
    ),
]
