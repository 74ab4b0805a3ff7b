#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=resume
#SBATCH --ntasks=2
#SBATCH --time=5

CHECKPOINT=checkpoint.txt
train() {
  srun bash -c "
    start=\$(cat $CHECKPOINT 2> /dev/null || echo 0)
    echo \"rank \$SLURM_PROCID starts at \$start\""
  echo $(( $(cat $CHECKPOINT 2> /dev/null || echo 0) + 10 )) > $CHECKPOINT
}
until [ "$(cat $CHECKPOINT 2> /dev/null)" = 20 ]; do
  train
done
