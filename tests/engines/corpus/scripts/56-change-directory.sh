#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=cd
#SBATCH --ntasks=2
#SBATCH --time=5

mkdir -p project/src
cd project || exit 1
srun bash -c 'echo "in $(basename "$PWD")"'
srun --chdir="$PWD/src" bash -c 'echo "in $(basename "$PWD")"'
srun -D src pwd | sed 's|.*/||' | sort -u
cd "$SLURM_SUBMIT_DIR" && ls -d project
