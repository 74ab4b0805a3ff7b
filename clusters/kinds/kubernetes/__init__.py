"""Kubernetes: reached by a kubeconfig, or by the service account of Trainyard's own pod."""
