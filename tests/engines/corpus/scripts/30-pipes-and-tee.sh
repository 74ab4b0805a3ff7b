#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=tee
#SBATCH --ntasks=2
#SBATCH --time=5

srun bash -c 'echo "loss 0.$SLURM_PROCID"' | sort | tee train.log
grep -c loss train.log
srun -n 1 bash -c 'echo out; echo err >&2' 2>&1 | sort | tee -a train.log
wc -l < train.log
srun -n 1 bash -c 'exit 6' 2> /dev/null | tee -a train.log
echo "srun ${PIPESTATUS[0]}, tee ${PIPESTATUS[1]}"
