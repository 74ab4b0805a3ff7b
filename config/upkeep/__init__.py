"""Backup, restore and new keys: what ``manage.py backup``, ``restore`` and ``rotate_key`` do."""
