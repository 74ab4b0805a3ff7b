"""Clusters, their nodes and node pools, as a Django application."""

from django.apps import AppConfig


class ClustersConfig(AppConfig):
    name = "clusters"
