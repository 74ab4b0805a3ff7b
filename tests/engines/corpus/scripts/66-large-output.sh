#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=large
#SBATCH --ntasks=2
#SBATCH --time=5

srun bash -c 'seq 1 20000; echo "end of $SLURM_PROCID"' > numbers
wc -l < numbers
srun -n 1 seq 1 50000 | md5sum
srun bash -c 'for i in $(seq 300); do echo "$SLURM_PROCID line $i"; done' | sort | md5sum
seq 1 60000 | srun -n 1 tail -n 1
seq 1 30000 | srun md5sum | sort -u
