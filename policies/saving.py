"""What is asked before a policy is saved by packages that know workloads.

``policies`` stands below them, so it sends a signal. A receiver raises ``NeedsConfirmation`` if
somebody should first see what the policy does.
"""

from django.dispatch import Signal

#: Sent with ``policy``, not yet saved, and ``by``, the user, unless the user has confirmed.
before_save = Signal()


class NeedsConfirmation(Exception):
    """The policy is saved only if the user confirms what it does. The message says what that is."""
