"""What Jupyter is told on this machine: it reads this file as its configuration."""

import os

from engines.local.apps.hosts import ToolHosts

if "get_config" in globals():  # Jupyter's, where it reads this
    hosts = ToolHosts(os.environ["JOB_UUID"], os.environ["TOOLS_DOMAIN"])
    globals()["get_config"]().ServerApp.tornado_settings = {"local_hostnames": hosts}
