from django.urls import URLPattern, path

from workloads.views import wizard, wizard_template

urlpatterns: list[URLPattern] = [
    path("workloads/new/", wizard.workload_new, name="workload-new"),
    path("workloads/drafts/<uuid:pk>/<int:step>/", wizard.draft_step, name="draft-step"),
    path(
        "workloads/drafts/<uuid:pk>/<int:step>/gallery/<slug:name>/",
        wizard.draft_gallery,
        name="draft-gallery",
    ),
    path("workloads/drafts/<uuid:pk>/discard/", wizard.draft_discard, name="draft-discard"),
    path(
        "workloads/drafts/<uuid:pk>/template/",
        wizard_template.draft_template,
        name="draft-template",
    ),
    path(
        "workloads/<uuid:pk>/template/", wizard_template.workload_template, name="workload-template"
    ),
]
