"""An idle workload is warned and stopped by a rule, and its owner gets emails."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.notifications.mailbox import Mailbox, mail_server, text_of
from tests.product import Trainyard
from tests.rest import Rest
from tests.waiting import wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.extended]
LIMIT_SECONDS = 300  # the shortest idle limit that a rule can have
ADDRESS = "boss@example.com"
#: A fake metric, because this machine has no GPU that could be idle: it says that the GPUs of the
#: workload were unused for so many seconds, and has the rules enforced as every half minute.
LEAVE_GPUS_IDLE = """
from datetime import timedelta
from django.db import transaction
from django.utils import timezone
from workloads.models import Sample, SampleKind, Workload
from workloads.scheduling.limits import rule_limits
with transaction.atomic():
    workload = Workload.objects.get(pk="{workload}")
    now = timezone.now()
    begin = now - timedelta(seconds={seconds})
    Workload.objects.filter(pk=workload.pk).update(phase_updated_at=begin)
    workload.samples.all().delete()
    Sample.objects.bulk_create(
        Sample(
            workload=workload, kind=SampleKind.USAGE, run=workload.run, rank=0,
            at=now - timedelta(seconds=seconds), values={{"cpu": 0.0, "gpu": 0.0}},
        )
        for seconds in range(0, {seconds} + 1, 15)
    )
    rule_limits.enforce_idle_limits()
"""
SET_UP = f"""
from accounts.models import User
from projects.models import Project
User.objects.filter(username="admin").update(email="{ADDRESS}")
Project.objects.update(training_job_max_idle_duration_seconds={LIMIT_SECONDS})
"""
CLEAN_UP = """
from accounts.models import User
from notifications.models import MailServer, Notification, Subscription
from projects.models import Project
User.objects.filter(username="admin").update(email="")
Project.objects.update(training_job_max_idle_duration_seconds=None)
for model in (MailServer, Notification, Subscription):
    model.objects.all().delete()
"""


@pytest.fixture
def mailbox(running_trainyard: Trainyard) -> Iterator[Mailbox]:
    """A mail server, and a rule that stops idle trainings of the administrator's project."""
    running_trainyard.manage("shell", "--no-imports", "--command", SET_UP)
    with mail_server(Mailbox()) as server:
        yield server
    running_trainyard.manage("shell", "--no-imports", "--command", CLEAN_UP)


def test_an_idle_workload_is_warned_and_stopped_with_its_mails(
    admin_page: Page, rest: Rest, running_trainyard: Trainyard, mailbox: Mailbox
) -> None:
    set_up_mail(admin_page, mailbox)
    compute = {"gpuDevicesRequest": 1, "cpuCoreRequest": 0.1, "cpuMemoryRequest": "100M"}
    workload = rest.submit("idler", workers=1, noMaster=True, command="sleep 600", compute=compute)
    rest.wait(workload, "Running", timeout=60)
    admin_page.goto("/notifications/")
    rows = admin_page.locator("#rows tbody tr")

    leave_gpus_idle(running_trainyard, workload, LIMIT_SECONDS - 15)
    expect(rows.first).to_contain_text("Its GPUs are idle: it will be stopped", timeout=30_000)
    warning = wait_for_mail(mailbox, "idler will be stopped by a rule")
    assert "Its GPUs are idle: it will be stopped" in warning

    leave_gpus_idle(running_trainyard, workload, LIMIT_SECONDS + 15)
    rest.wait(workload, "Stopped", timeout=60)
    reason = "Its GPUs were idle for 5 min, the idle GPU limit of project"
    assert reason in wait_for_mail(mailbox, "idler was stopped by a rule")

    expect(rows.first).to_contain_text("idler was stopped by a rule", timeout=30_000)
    expect(rows.nth(1)).to_contain_text("idler will be stopped by a rule")
    rows.first.get_by_role("link").click()
    expect(admin_page.get_by_text(reason).first).to_be_visible()


def set_up_mail(page: Page, mailbox: Mailbox) -> None:
    """Save the mail server on its page after a test mail, and subscribe to emails."""
    page.goto("/mail-server/")
    page.get_by_label("Host").fill("127.0.0.1")
    page.get_by_label("Port", exact=True).fill(str(mailbox.port))
    page.get_by_label("None", exact=True).check()
    page.get_by_label("Sender address").fill("trainyard@example.com")
    page.get_by_role("button", name="Send test mail").click()
    expect(page.get_by_text("The mail server took the test mail")).to_be_visible()
    assert [email["To"] for email in mailbox.received] == [ADDRESS]
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_text("The mail server was saved.")).to_be_visible()
    page.goto("/notifications/settings/new/")
    page.get_by_label("Also by email").check()
    page.get_by_role("button", name="Subscribe").click()
    page.wait_for_url("**/notifications/settings/")


def leave_gpus_idle(trainyard: Trainyard, workload: str, seconds: int) -> None:
    command = LEAVE_GPUS_IDLE.format(workload=workload, seconds=seconds)
    trainyard.manage("shell", "--no-imports", "--command", command)


def wait_for_mail(mailbox: Mailbox, subject: str) -> str:
    """Return the text of the email with this subject."""

    def received() -> list[str]:
        return [text_of(email) for email in mailbox.received if email["Subject"].endswith(subject)]

    wait_for(lambda: bool(received()), 60, f"the email {subject}")
    (text,) = received()
    return text
