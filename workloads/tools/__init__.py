"""The tools that ranks serve, such as Jupyter, opened in the browser by those who may.

A tool's pages come from a pod, so they are not to be trusted: each tool has an address (an origin)
of its own, where no page of ours is served and none of our cookies is sent. See docs/adr/0006.
"""
