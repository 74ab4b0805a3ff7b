"""The programs that ``make run`` starts: which they are, who keeps them up, what they write."""
