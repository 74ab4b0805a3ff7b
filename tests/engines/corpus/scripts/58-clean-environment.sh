#!/bin/bash
#SBATCH --job-name=clean
#SBATCH --ntasks=1
#SBATCH --time=5

export LEFT=over
env -i PATH="$PATH" KEPT=yes bash --noprofile --norc -c 'echo "${KEPT-no} ${LEFT-no} ${SLURM_JOB_ID-no}"'
env -u LEFT srun -n1 bash -c 'echo "${LEFT-no}"'
