"""Tools that ranks serve, such as Jupyter, opened in the browser by those who may use them.

The pages of a tool come from a pod and cannot be trusted. So each tool has an address (an origin)
of its own, where none of our pages are served and none of our cookies are sent. See docs/adr/0006.
"""
