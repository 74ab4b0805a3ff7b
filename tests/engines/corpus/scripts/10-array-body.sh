#!/bin/bash
#SBATCH --job-name=sweep
#SBATCH --ntasks=1
#SBATCH --time=5

# Also runs as a single job, then with the first parameters.
TASK=${SLURM_ARRAY_TASK_ID:-0}
LRS=(0.1 0.01 0.001)
SEEDS=(7 8 9)
LR=${LRS[$TASK]}
SEED=${SEEDS[$((TASK % 3))]}
echo "task $TASK: lr $LR seed $SEED"
srun echo train --lr "$LR" --seed "$SEED"
