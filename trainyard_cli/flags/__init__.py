"""What each flag of a submission means in its request, as plain data.

``body`` goes from flags to the request, ``line`` from a request to the command line. Code outside
this distribution imports only this package of it.
"""
