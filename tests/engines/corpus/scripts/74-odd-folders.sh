#!/bin/bash
#SBATCH --job-name=folders
#SBATCH --ntasks=1
#SBATCH --time=5

srun -D /no/such/folder -n1 pwd 2>&1 | uniq
mkdir gone "with space"
cd "with space" && srun -n1 bash -c 'basename "$PWD"'
cd ../gone && rmdir ../gone
srun -n1 echo never 2> /dev/null || echo "refused"
