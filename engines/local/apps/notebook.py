"""Jupyter's configuration on this machine; Jupyter executes this file."""

import os

from engines.local.apps.hosts import ToolHosts

if "get_config" in globals():  # defined by Jupyter when it executes this file
    hosts = ToolHosts(os.environ["JOB_UUID"], os.environ["TOOLS_DOMAIN"])
    globals()["get_config"]().ServerApp.tornado_settings = {"local_hostnames": hosts}
