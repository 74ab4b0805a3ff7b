#!/bin/bash
#SBATCH --job-name=chdir
#SBATCH -D .
#SBATCH --output=reports/main_%j.log
#SBATCH --ntasks=1
#SBATCH --time=5

[ "$PWD" = "$SLURM_SUBMIT_DIR" ] && echo "in the folder of the submission"
srun -n1 echo trained
