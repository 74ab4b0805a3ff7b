#!/bin/bash
#SBATCH --job-name=substitution
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --time=5

count=$(srun hostname | wc -l)
names=$(srun bash -c 'echo $SLURM_NODEID' | sort | paste -sd,)
echo "$count lines of nodes $names"
code=$(srun -n1 -N1 bash -c 'exit 8' 2> /dev/null; echo $?)
echo "code $code"
