"""``make run``: install what is missing, prepare the data, start the processes and watch them."""
