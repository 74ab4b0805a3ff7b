"""People and their keys."""

from django.contrib.auth.models import AbstractUser
from django.db import models


class Role(models.TextChoices):
    ADMINISTRATOR = "administrator", "Administrator"
    RESEARCHER = "researcher", "Researcher"


class User(AbstractUser):
    """Someone who signs in. Administrators see everything; researchers see their projects."""

    role = models.CharField(max_length=20, choices=Role.choices, default=Role.RESEARCHER)

    @property
    def is_administrator(self) -> bool:
        return self.role == Role.ADMINISTRATOR

    def __str__(self) -> str:
        return self.username


class AccessKey(models.Model):
    """A key for programs that act for a person. Only a hash of the secret is kept."""

    name = models.CharField(max_length=63)
    client_id = models.CharField(max_length=64, unique=True)
    secret_hash = models.CharField(max_length=255)
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="access_keys")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.name
