#!/bin/bash
#SBATCH --job-name=ds
#SBATCH --ntasks=1
#SBATCH --time=5

ZERO_STAGE=2
config=ds_config.json
cat <<EOT > $config
{
  "train_micro_batch_size_per_gpu": 4,
  "zero_optimization": {"stage": $ZERO_STAGE},
  "fp16": {"enabled": true}
}
EOT
srun python3 -c "
import json
with open('$config') as file:
    config = json.load(file)
print('stage', config['zero_optimization']['stage'], config['fp16'])
"
