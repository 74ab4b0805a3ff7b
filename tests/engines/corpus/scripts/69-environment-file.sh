#!/bin/bash
#SBATCH --job-name=dotenv
#SBATCH --ntasks=1
#SBATCH --time=5

cat > .env <<'EOF'
# of the project
WANDB_MODE=offline
RUN_NAME="night run"
EOF
set -a
source .env
set +a
srun -n1 bash -c 'echo "$WANDB_MODE / $RUN_NAME"'
