"""What each flag of a submission says in its request, as plain data, and both ways of going there:
from flags to the request (``body``), and from a request to the command line (``line``). Of this
distribution it is all that others may import.
"""
