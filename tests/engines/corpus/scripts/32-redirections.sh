#!/bin/bash
#SBATCH --job-name=redirect
#SBATCH --ntasks=1
#SBATCH --time=5

srun -n1 bash -c 'echo out; echo err >&2' > out.txt 2> err.txt
srun -n1 echo more >> out.txt
srun -n1 bash -c 'echo both; echo two >&2' &> both.txt
cat out.txt err.txt; sort both.txt
exec 3> third.txt
srun -n1 echo third >&3
exec 3>&-
cat third.txt
