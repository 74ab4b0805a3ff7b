#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=strict
#SBATCH --ntasks=2
#SBATCH --time=5

set -euo pipefail
: "${EPOCHS:=3}"
srun bash -c "set -eu; echo epochs $EPOCHS; false | true; echo reached"
srun bash -c 'exit $((SLURM_PROCID * 4))' 2>&1 | sed -n 's/^srun: error: .*: \(Exited .*\)/\1/p' | sort -u
echo "not reached, because pipefail is on"
