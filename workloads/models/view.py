"""A saved view of the workloads table: the query string of its address, under a name."""

from django.db import models

from accounts.models import User


class SavedView(models.Model):
    owner = models.ForeignKey(User, on_delete=models.CASCADE, related_name="saved_views")
    name = models.CharField(max_length=63)
    query = models.CharField(max_length=2000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["owner", "name"], name="one_view_of_a_name")]

    def __str__(self) -> str:
        return self.name
