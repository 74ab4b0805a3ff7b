"""The workloads table: its columns, filters, pages and CSV. Views only translate HTTP to these."""
