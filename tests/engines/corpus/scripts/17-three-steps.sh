#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=pipeline
#SBATCH --ntasks=2
#SBATCH --time=5

set -euo pipefail
echo "== preprocess"
srun -n 1 -N 1 bash -c 'seq 1 10 > data.txt; echo wrote $(wc -l < data.txt) lines'
echo "== train"
srun bash -c 'awk -v r=$SLURM_PROCID -v n=$SLURM_NTASKS "NR % n == r { s += \$1 } END { print \"sum\", s }" data.txt'
echo "== evaluate"
srun --ntasks=1 --nodes=1 sh -c 'tail -n 1 data.txt'
echo "== done"
