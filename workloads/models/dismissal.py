"""A reason to look at a workload, which a user has ticked off on the overview."""

from django.db import models

from accounts.models import User


class Dismissal(models.Model):
    """``need`` is the key of the reason, see ``workloads.home.needs``. It holds for one ``run``, so
    a workload that runs again can need its owner again."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")
    workload = models.ForeignKey(
        "workloads.Workload", on_delete=models.CASCADE, related_name="dismissals"
    )
    run = models.PositiveIntegerField()
    need = models.CharField(max_length=10)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "workload", "run", "need"], name="one_dismissal_of_a_need"
            )
        ]

    def __str__(self) -> str:
        return f"{self.need} of run {self.run}"
