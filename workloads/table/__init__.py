"""The workloads table: its columns, filters, pages and CSV file, with thin views on top."""
