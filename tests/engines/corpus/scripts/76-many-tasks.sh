#!/bin/bash
#SBATCH --job-name=many
#SBATCH --nodes=1
#SBATCH --ntasks=4
#SBATCH --time=5

srun -O -n 100 -l bash -c 'echo "of $SLURM_NTASKS"' > lines
wc -l < lines
sort -n lines | sed -n '1p;100p'
seq 3 | srun -O -n 30 sh -c 'wc -l' | sort | uniq -c | xargs
