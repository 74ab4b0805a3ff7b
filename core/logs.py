"""Logging filters that leave out noise, so that what matters at 3 a.m. stands out."""

import logging


class BriefRefusals(logging.Filter):
    """Drops the traceback of a refused request: 4xx, 501 for what Trainyard does not have, 503
    while the database cannot be used, and 507 on a full disk. The code is not at fault, and another
    line of the log names the cause. What Trainyard does not have is no error of the server."""

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", 0)
        if 400 <= status < 500 or status in {501, 503, 507}:
            record.exc_info = record.exc_text = None
        if status == 501:
            record.levelno = logging.WARNING
            record.levelname = logging.getLevelName(logging.WARNING)
        return True


class WithoutHealthChecks(logging.Filter):
    """Drops the requests of health probes, whose senders see the answer."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return getattr(request, "path", "") != "/healthz"
