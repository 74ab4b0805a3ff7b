"""REST: service accounts, for callers who may manage them."""

from datetime import datetime

from ninja import Field, Query, Router, Status

from accounts import access, service_accounts
from accounts.api.tokens import ApiRequest
from accounts.models import AccessKey, User
from audit.models import AuditEntry
from core.rest.api import TENANT, StrictBody, Wire, not_found, translate_errors
from core.rest.filters import DATE, TEXT, Fields
from core.rest.rows import WholeListing

router = Router(tags=["Access"], by_alias=True)
REFUSED = "The service account cannot be saved."
FIELDS: Fields = {
    "name": ("name", TEXT),
    "createdAt": ("created_at", DATE),
    "createdBy": ("created_by", TEXT),
    "lastLogin": ("last_login", DATE),
}


class ServiceAccountOut(Wire):
    id: str = Field(description="Its ID")
    name: str = Field(description="The name")
    client_id: str = Field(description="The name of its access key in token requests")
    enabled: bool = Field(description="Whether it may get tokens")
    created_by: str = Field(description="The username of the person who created it")
    created_at: datetime = Field(description="When it was created")
    updated_at: datetime | None = Field(default=None, description="Always null")
    last_login: datetime | None = Field(description="When it last got a token; null before that")
    tenant_id: str = Field(default=str(TENANT), description="Always 1: there is one account")


class ServiceAccountList(Wire):
    service_accounts: list[ServiceAccountOut] = Field(description="The service accounts, by name")


class ServiceAccountIn(StrictBody):
    name: str = Field(
        min_length=1, max_length=63, description="Lower-case letters, digits and hyphens"
    )


class ServiceAccountChange(StrictBody):
    enabled: bool = Field(description="Whether it may get tokens")


class ServiceAccountSecret(Wire):
    """The only answer that contains the secret."""

    client_id: str = Field(description="The name of its access key in token requests")
    client_secret: str = Field(description="The secret, in this answer alone")


class NewServiceAccount(ServiceAccountSecret):
    id: str = Field(description="Its ID")
    name: str = Field(description="The name")


@router.get("/service-accounts", response=ServiceAccountList)
def list_service_accounts(request: ApiRequest, listing: Query[WholeListing]) -> ServiceAccountList:
    """All service accounts."""
    access.require(request.user, "service-accounts.read")
    rows = User.objects.filter(is_service_account=True).order_by("username")
    every = _describe_accounts(list(rows))
    return ServiceAccountList(service_accounts=listing.select(every, FIELDS, "name"))


@router.post("/service-accounts", response={201: NewServiceAccount})
def create_service_account(
    request: ApiRequest, body: ServiceAccountIn
) -> Status[NewServiceAccount]:
    """Create a service account without roles. Its secret is in this answer and never shown
    again."""
    with translate_errors(REFUSED):
        account, key, secret = service_accounts.create_service_account(
            by=request.user, name=body.name
        )
    new = NewServiceAccount(
        id=str(account.pk),
        name=account.username,
        client_id=key.client_id,
        client_secret=secret,
    )
    return Status(201, new)


@router.get("/service-accounts/{int:account_id}", response=ServiceAccountOut)
def get_service_account(request: ApiRequest, account_id: int) -> ServiceAccountOut:
    """One service account, by its id."""
    return _describe_accounts([_find_account(request, account_id, "service-accounts.read")])[0]


@router.patch("/service-accounts/{int:account_id}", response=ServiceAccountOut)
def change_service_account(
    request: ApiRequest, account_id: int, body: ServiceAccountChange
) -> ServiceAccountOut:
    """Enable or disable a service account. Disabling ends its tokens immediately."""
    account = _find_account(request, account_id, "service-accounts.update")
    with translate_errors(REFUSED):
        service_accounts.set_enabled(account, body.enabled, by=request.user)
    return _describe_accounts([account])[0]


@router.delete("/service-accounts/{int:account_id}", response={204: None})
def delete_service_account(request: ApiRequest, account_id: int) -> Status[None]:
    """Delete a service account. 409 while it has access rules. Its workloads keep running."""
    account = _find_account(request, account_id, "service-accounts.delete")
    with translate_errors(REFUSED):
        service_accounts.delete_service_account(account, by=request.user)
    return Status(204, None)


@router.post("/service-accounts/{int:account_id}/secret", response=ServiceAccountSecret)
def renew_service_account_secret(request: ApiRequest, account_id: int) -> ServiceAccountSecret:
    """Create a new secret. The old one and its tokens stop working immediately."""
    account = _find_account(request, account_id, "service-accounts.update")
    with translate_errors(REFUSED):
        key, secret = service_accounts.renew_secret(account, by=request.user)
    return ServiceAccountSecret(client_id=key.client_id, client_secret=secret)


def _find_account(request: ApiRequest, pk: int, action: str) -> User:
    access.require(request.user, action)
    account = User.objects.filter(pk=pk, is_service_account=True).first()
    if account is None:
        raise not_found("The service account")
    return account


def _describe_accounts(accounts: list[User]) -> list[ServiceAccountOut]:
    ids = [str(account.pk) for account in accounts]
    creations = AuditEntry.objects.filter(verb="create", target_kind="user", target_id__in=ids)
    creators = dict(creations.order_by("at").values_list("target_id", "by_name"))
    keys = {key.user_id: key for key in AccessKey.objects.filter(user__in=accounts)}
    return [
        ServiceAccountOut(
            id=str(account.pk),
            name=account.username,
            client_id=keys[account.pk].client_id,
            enabled=account.is_active,
            created_by=creators.get(str(account.pk), ""),
            created_at=account.date_joined,
            last_login=keys[account.pk].last_used_at,
        )
        for account in accounts
        if account.pk in keys
    ]
