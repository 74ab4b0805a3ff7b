#!/bin/bash
#SBATCH --job-name=requeue
#SBATCH --ntasks=1
#SBATCH --signal=B:USR1@60
#SBATCH --time=5

trap 'echo "time is nearly over, saving"; saved=yes' USR1
saved=no
(sleep 0.5; kill -USR1 $$) &
while [ $saved = no ]; do sleep 0.1; done
wait
echo "saved: $saved"
