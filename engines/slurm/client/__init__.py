"""How the cluster is reached: commands, files on its shared directory, terminals and ports."""
