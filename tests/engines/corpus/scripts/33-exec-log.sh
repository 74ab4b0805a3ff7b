#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=log
#SBATCH --ntasks=2
#SBATCH --time=5

exec > run.log 2>&1
echo "everything goes to a file"
srun bash -c 'echo "task $SLURM_PROCID"'
exec > /dev/null
cat run.log | sort > sorted.log
cp sorted.log "$PWD/copy.log"
test "$(wc -l < copy.log)" = 3
