"""The forms of projects and departments. The verbs that are given the values judge them."""

from typing import Any

from django import forms

from accounts.models import User
from clusters.models import Cluster
from core.forms import Form
from projects.models import Department, Project

GB = 1_000_000_000
LARGEST_QUOTA = 1e9  # in bytes more than this would not fit into a column


def _quota(label: str, *, empty: str = "Unlimited", **kwargs: Any) -> forms.FloatField:
    widget = forms.NumberInput({"step": "any", "min": 0, "placeholder": empty})
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
        data = self.cleaned_data
        return data | {
            "gpu_quota": data["gpu_quota"] or 0.0,
            "memory_quota": _bytes(data["memory_quota"]),
            "members": list(data["members"]),
        }


class DepartmentForm(Form):
    NEEDED = ("name",)
    SUM = "Sum of its projects"

    cluster = forms.ModelChoiceField(
        label="Cluster", queryset=Cluster.objects.all(), empty_label=None
    )
    name = forms.CharField(label="Department name", required=False)
    gpu_quota = _quota("GPU quota", empty=SUM, help_text="In GPUs; 0.5 is half of one.")
    cpu_quota = _quota("CPU quota", empty=SUM, help_text="In cores.")
    memory_quota = _quota("CPU memory quota", empty=SUM, help_text="In GB.")
    over_quota = forms.BooleanField(
        label="Over-quota",
        required=False,
        help_text="Its projects may use what other departments leave idle. Without it they never "
        "hold more than the department's quota together.",
    )

    def values(self) -> dict[str, Any]:
        return self.cleaned_data | {"memory_quota": _bytes(self.cleaned_data["memory_quota"])}


def _bytes(memory: float | None) -> int | None:
    return None if memory is None else round(memory * GB)


def initial_of_project(project: Project) -> dict[str, Any]:
    return {
        "department": project.department.name,
        "description": project.description,
        "members": project.members.all(),
        **initial_of(project),
    }


def blank() -> dict[str, Any]:
    return {"department": "default", "gpu_quota": 1, "over_quota": True}


def initial_of(of: Project | Department) -> dict[str, Any]:
    """What both forms ask for."""
    memory = None if of.memory_quota is None else of.memory_quota / GB
    return {
        "cluster": of.cluster,
        "name": of.name,
        "gpu_quota": _written(of.gpu_quota),
        "cpu_quota": _written(of.cpu_quota),
        "memory_quota": _written(memory),
        "over_quota": of.over_quota,
    }


def _written(quota: float | None) -> str | None:
    return None if quota is None else f"{quota:g}"
