#!/bin/bash
#SBATCH --job-name=pernode
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --time=5

srun --ntasks-per-node=1 bash -c 'echo "agent $SLURM_NODEID of $SLURM_NTASKS"'
srun -N $SLURM_NNODES --ntasks=$SLURM_NNODES bash -c 'echo "agent $SLURM_NODEID of $SLURM_NTASKS"'
