"""Users, as NVIDIA's client has them."""

from runai import models

from projects.models import Project
from tests.runapy.conftest import RunaiCaller


def walk(runai: RunaiCaller, project: Project) -> None:
    request = models.UserCreationRequest1(email="ada@example.com")
    made = runai("UsersApi.create_user", request, takes="UserPostResponse")
    assert made["username"] == "ada@example.com"
    one = runai("UsersApi.get_user_by_id", made["id"], takes="User2")
    assert (one["createdBy"], one["isLocal"]) == ("boss", True)
    listed = runai("UsersApi.get_users", filter_by=["username=@example"], takes="User2")
    assert [it["id"] for it in listed] == [made["id"]]
    assert runai("UsersApi.count_users", search="ada@")["count"] == 1
    renewed = runai(
        "UsersApi.reset_user_password", made["id"], takes="ResetUserPassword200Response"
    )
    assert renewed["tempPassword"] != made["tempPassword"]
