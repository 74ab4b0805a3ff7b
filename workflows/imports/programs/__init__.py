"""Small programs that scripts of workflows wait with, for machines that lack the real ones. They
run in pods, and import nothing of ours."""
