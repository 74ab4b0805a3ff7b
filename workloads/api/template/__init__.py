"""Templates by REST, each kind of workload with paths of its own, as Run:ai has them."""
