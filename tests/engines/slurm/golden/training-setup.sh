module load cuda
conda activate train
