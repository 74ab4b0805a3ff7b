"""What the logs of web and worker leave out, so that what matters at 3 a.m. is seen."""

import logging


class BriefRefusals(logging.Filter):
    """One line, without a traceback, for a request that was refused: nothing of ours is broken."""

    def filter(self, record: logging.LogRecord) -> bool:
        status = getattr(record, "status_code", 0)
        if 400 <= status < 500 or status == 507:
            record.exc_info = record.exc_text = None
        return True


class WithoutHealth(logging.Filter):
    """Keeps the answers of ``/healthz`` out of the log: whoever asks gets to know."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        return getattr(request, "path", "") != "/healthz"
