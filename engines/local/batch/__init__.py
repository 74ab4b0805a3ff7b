"""Runs a batch script of Slurm on this machine, byte for byte.

The script is the program of rank 0. Every rank has a host, the process that the supervisor starts.
In front of the script's ``PATH`` are programs that stand for Slurm's: ``srun`` asks the hosts to
start tasks, so that each task is a process of its rank. Hosts and programs import only Python's
own modules, this package, and the table of srun's options.
"""
