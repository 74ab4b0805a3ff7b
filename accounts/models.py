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
