"""Would it start: a gang against the nodes as they were last seen, before it is submitted."""
