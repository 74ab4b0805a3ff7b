#!/bin/bash
#SBATCH --nodes=1
#SBATCH --job-name=heredoc
#SBATCH --ntasks=2
#SBATCH --time=5

cat > train.py <<'EOF'
import os
rank = int(os.environ["SLURM_PROCID"])
size = int(os.environ["SLURM_NTASKS"])
for epoch in range(2):
    print(f"epoch {epoch} rank {rank}/{size} loss {1 / (epoch + 1):.3f}")
EOF
srun python3 train.py
