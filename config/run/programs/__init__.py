"""The programs that ``make run`` starts: their command lines, their manager and their logs."""
