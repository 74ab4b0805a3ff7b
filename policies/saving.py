"""What is asked of the packages above before a policy is saved, and what they are told then.

``policies`` stands below assets and workloads, so it sends signals, which those receive.
"""

from django.dispatch import Signal

#: Sent with the ``rules`` of a policy, its ``scope``, its ``kind`` and the list of its
#: ``problems``. A receiver adds those that it knows of, with their paths in the tree.
rules_read = Signal()
#: Sent with ``policy``, not yet saved, and ``by``, the user, unless the user has confirmed; before
#: the transaction that saves it. A receiver raises ``NeedsConfirmation`` if somebody should first
#: see what the policy does.
before_save = Signal()
#: Sent with ``policy``, once it is saved, in the same transaction.
after_save = Signal()


class NeedsConfirmation(Exception):
    """The policy is saved only if the user confirms what it does. The message says what that is."""
