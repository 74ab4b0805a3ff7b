"""How a cluster is talked to. Plain Python; engines do not know each other."""
