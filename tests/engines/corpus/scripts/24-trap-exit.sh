#!/bin/bash
#SBATCH --job-name=cleanup
#SBATCH --ntasks=1
#SBATCH --time=5

scratch=$(mktemp -d "$PWD/scratch.XXXXXX")
cleanup() {
  code=$?
  rm -rf "$scratch"
  echo "cleaned up after code $code"
}
trap cleanup EXIT
srun -n 1 bash -c "echo data > $scratch/data; cat $scratch/data"
exit 3
