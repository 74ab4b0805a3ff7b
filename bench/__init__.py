"""Speed, measured side by side with a peer in one run. ``make bench`` prints the table."""
