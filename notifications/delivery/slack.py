"""Messages in the format of Slack's incoming webhooks, and digests of many of them.

A delivery to Slack is created with the same body as any other. The text that Slack shows is made
just before it is sent first, because it quotes the log.
"""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from notifications import events
from notifications.messages import (
    CauseInWords,
    Message,
    explain,
    link_to,
    list_facts,
    time_in_words,
)
from notifications.models import Delivery, DeliveryState, MessageFormat, Webhook
from workloads.models import Workload

WINDOW = timedelta(minutes=5)
MOST_SINGLE = 10  # messages in the window that are sent one by one
MOST_IN_DIGEST = 50  # further ones are only counted
LONGEST_TEXT = 3500  # characters; Slack cuts texts above 4,000


def prepare(delivery: Delivery) -> None:
    """Write the text of a claimed delivery to Slack, if it has none yet."""
    said = json.loads(delivery.body)
    if "type" not in said:  # it was sent before
        return
    delivery.body = json.dumps({"text": _text_of(said)}, ensure_ascii=False)
    Delivery.objects.filter(pk=delivery.pk).update(body=delivery.body)


def fold_floods() -> None:
    """Make one delivery of more than ten that wait for the same Slack channel. If some were sent in
    the last five minutes, they wait until that is over."""
    for webhook in Webhook.objects.filter(format=MessageFormat.SLACK, enabled=True):
        with transaction.atomic():
            _fold_flood(webhook)


def _fold_flood(webhook: Webhook) -> None:
    now = timezone.now()
    rows = webhook.deliveries.exclude(type__in=[events.TEST, events.DIGEST])
    waiting = rows.filter(state=DeliveryState.PENDING, attempts=0, asked_by=None)
    waiting_count = waiting.count()
    sent = webhook.deliveries.filter(sent_at__gt=now - WINDOW).exclude(type=events.TEST)
    sent_count = sent.count()
    if not waiting_count or waiting_count + sent_count <= MOST_SINGLE:
        return
    if sent_count:
        last = sent.order_by("-sent_at").values_list("sent_at", flat=True)[0]
        until = (last or now) + WINDOW
        waiting.filter(next_try_at__lt=until).update(next_try_at=until)
        return
    folded = list(waiting.select_for_update().order_by("created_at", "event"))
    bodies = [json.loads(row.body) for row in folded]
    facts = {"count": len(bodies), "events": bodies[:MOST_IN_DIGEST]}
    webhook.deliveries.filter(pk__in=[row.pk for row in folded]).delete()
    webhook.deliveries.create(
        type=events.DIGEST,
        subject=f"{len(bodies)} events",
        body=events.message_body(events.DIGEST, now, facts),
    )


def _text_of(said: dict[str, Any]) -> str:
    data = said["data"]
    if said["type"] == events.TEST:
        return f"A test of the webhook {_escape(data['name'])} of Trainyard."
    if said["type"] == events.DIGEST:
        lines = [f"*{data['count']} events*"]
        lines += [f"• {_headline(_message_of(one, None))}" for one in data["events"]]
        further = data["count"] - len(data["events"])
        return _cut("\n".join([*lines, f"and {further} more"] if further else lines))
    return _cut(_paragraphs(_message_of(said, _find_workload(data))))


def _message_of(said: dict[str, Any], workload: Workload | None) -> Message:
    """Return the message about a body. Only with its ``workload`` it explains the cause."""
    data = said["data"]
    subject = data.get("name") or data.get("projectName") or data.get("clusterName", "")
    return Message(
        title=events.title(said["type"], subject),
        facts=list_facts(
            ("Project", data.get("projectName", "")),
            ("Reason", data.get("reason", "")),
            ("Time", time_in_words(datetime.fromisoformat(said["timestamp"]))),
        ),
        text=data.get("message", ""),
        explanation=explain(workload, said["type"]) if workload else CauseInWords(),
        link=link_to(_page_of(data)),
    )


def _page_of(data: dict[str, Any]) -> str:
    if "id" in data:
        return f"/workloads/{data['id']}/"
    if "projectId" in data:
        return f"/projects/{data['projectId']}/"
    return f"/clusters/{data['clusterId']}/"


def _find_workload(data: dict[str, Any]) -> Workload | None:
    rows = Workload.objects.select_related("project", "cluster").filter(deleted_at=None)
    return rows.filter(pk=data["id"]).first() if "id" in data else None


def _paragraphs(message: Message) -> str:
    explanation = message.explanation
    facts = " · ".join(f"{name}: {_escape(value)}" for name, value in message.facts)
    quoted = "\n".join(_escape(line) for line in _unfenced(explanation.lines))
    parts = [
        f"*{_headline(message)}*",
        _escape(explanation.title),
        _escape(message.text),
        _escape(explanation.todo),
        facts,
        f"```{quoted}```" if quoted else "",
    ]
    return "\n".join(filter(None, parts))


def _headline(message: Message) -> str:
    title = _escape(message.title)
    return f"<{message.link}|{title}>" if message.link else title


def _unfenced(lines: Sequence[str]) -> list[str]:
    """Return lines that cannot end the block in which they are quoted."""
    return [line.replace("```", "'''") for line in lines]


def _escape(text: str) -> str:
    """Escape what Slack reads as a link or a mention."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    fence = "```" if text.endswith("```") else ""
    return f"{text[:LONGEST_TEXT]} …{fence}"
