"""REST: tokens, access keys, users, roles, settings and the audit log, and requests that are sent
twice."""
