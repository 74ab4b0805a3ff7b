"""REST: tokens, access keys, users, roles, settings and the audit log, and protection against
requests that are sent twice."""
