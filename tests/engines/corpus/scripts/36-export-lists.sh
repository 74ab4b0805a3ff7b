#!/bin/bash
#SBATCH --job-name=export
#SBATCH --ntasks=1
#SBATCH --time=5

export DATA=/data MODEL=resnet SECRET=yes
show='echo "${DATA-none} ${MODEL-none} ${SECRET-none} ${EXTRA-none}"'
srun --export=ALL /bin/bash -c "$show"
srun --export=ALL,EXTRA=more /bin/bash -c "$show"
srun --export=DATA,EXTRA=only /bin/bash -c "$show"
srun --export=NONE /bin/bash -c "$show"
SLURM_EXPORT_ENV=MODEL srun /bin/bash -c "$show"
