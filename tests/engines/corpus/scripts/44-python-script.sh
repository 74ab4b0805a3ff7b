#!/usr/bin/python3
#SBATCH --nodes=1
#SBATCH --job-name=python
#SBATCH --ntasks=2
#SBATCH --time=5
import os
import subprocess

print("script of", os.environ["SLURM_NTASKS"], "tasks", flush=True)
done = subprocess.run(["srun", "bash", "-c", "echo task $SLURM_PROCID; exit 2"], stderr=subprocess.DEVNULL)
print("code", done.returncode)
text = subprocess.check_output("srun -n 1 echo caught", shell=True, text=True)
print([text])
