"""The project form. The verbs in ``projects.services`` judge the values."""

from typing import Any

from django import forms

from accounts.models import User
from clusters.models import Cluster
from core.forms import Form
from projects.models import Department, Project

GB = 1_000_000_000
LARGEST_QUOTA = 1e9  # in bytes more than this would not fit into a column


def _quota(label: str, **kwargs: Any) -> forms.FloatField:
    widget = forms.NumberInput({"step": "any", "min": 0, "placeholder": "Unlimited"})
    return forms.FloatField(
        label=label, required=False, widget=widget, max_value=LARGEST_QUOTA, **kwargs
    )


class ProjectForm(Form):
    NEEDED = ("name", "department")

    cluster = forms.ModelChoiceField(
        label="Cluster", queryset=Cluster.objects.all(), empty_label=None
    )
    department = forms.CharField(
        label="Department",
        required=False,
        widget=forms.TextInput({"list": "departments", "autocomplete": "off"}),
        help_text="One that exists, or the name of a new one.",
    )
    name = forms.CharField(
        label="Project name",
        required=False,
        help_text="On Kubernetes its namespace is named after it, so the name stays while there "
        "are workloads.",
    )
    description = forms.CharField(label="Description", required=False)
    gpu_quota = forms.FloatField(
        label="GPU quota",
        required=False,
        widget=forms.NumberInput({"step": "any", "min": 0}),
        help_text="In GPUs; 0.5 is half of one.",
    )
    cpu_quota = _quota("CPU quota", help_text="In cores.")
    memory_quota = _quota("CPU memory quota", help_text="In GB.")
    over_quota = forms.BooleanField(
        label="Over-quota",
        required=False,
        help_text="May use what others leave idle, and gives it back when they need it.",
    )
    members = forms.ModelMultipleChoiceField(
        label="Members",
        queryset=User.objects.none(),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text="Researchers who submit here. Administrators need no membership.",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        members = self.fields["members"]
        assert isinstance(members, forms.ModelMultipleChoiceField)  # noqa: S101 -- declared above
        members.queryset = User.objects.filter(is_active=True).order_by("username")
        self.departments = Department.objects.values_list("name", flat=True).distinct()

    def values(self) -> dict[str, Any]:
        data = {**self.cleaned_data}
        memory = data["memory_quota"]
        return data | {
            "gpu_quota": data["gpu_quota"] or 0.0,
            "memory_quota": None if memory is None else round(memory * GB),
            "members": list(data["members"]),
        }


def initial(project: Project) -> dict[str, Any]:
    memory = project.memory_quota
    return {
        "cluster": project.cluster,
        "department": project.department.name,
        "name": project.name,
        "description": project.description,
        "gpu_quota": f"{project.gpu_quota:g}",
        "cpu_quota": None if project.cpu_quota is None else f"{project.cpu_quota:g}",
        "memory_quota": None if memory is None else f"{memory / GB:g}",
        "over_quota": project.over_quota,
        "members": project.members.all(),
    }


def blank() -> dict[str, Any]:
    return {"department": "default", "gpu_quota": 1, "over_quota": True}
