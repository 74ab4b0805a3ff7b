#!/bin/bash
#SBATCH --job-name=queries
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --time=5

squeue -h -j "$SLURM_JOB_ID" -o '%T %D'
scontrol show job "$SLURM_JOB_ID" | grep -o -e 'JobState=[A-Z]*' -e 'NumNodes=[0-9]*'
scontrol show hostnames "$SLURM_JOB_NODELIST" | wc -l
scontrol show hostlist gpu1,gpu2,gpu3,gpu7
scontrol show hostnames 'gpu[01-03,7]' | paste -sd,
