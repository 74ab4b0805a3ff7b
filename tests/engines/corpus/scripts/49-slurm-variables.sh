#!/bin/bash
#SBATCH --job-name=facts
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=2
#SBATCH --time=5

echo "name $SLURM_JOB_NAME"
echo "nodes $SLURM_NNODES $SLURM_JOB_NUM_NODES"
echo "tasks $SLURM_NTASKS $SLURM_NPROCS per node $SLURM_NTASKS_PER_NODE $SLURM_TASKS_PER_NODE"
echo "cpus $SLURM_CPUS_PER_TASK $SLURM_JOB_CPUS_PER_NODE $SLURM_CPUS_ON_NODE"
echo "rank ${SLURM_PROCID-none} ${SLURM_LOCALID-none} ${SLURM_NODEID-none} step ${SLURM_STEP_ID-none}"
[ "$SLURM_JOB_ID" = "$SLURM_JOBID" ] && echo "one id"
[ "$SLURM_SUBMIT_DIR" = "$PWD" ] && echo "in the folder of the submission"
[ "$SLURM_NODELIST" = "$SLURM_JOB_NODELIST" ] && echo "one list"
srun bash -c 'echo "$SLURM_PROCID $SLURM_LOCALID $SLURM_NODEID $SLURM_GTIDS $SLURM_NTASKS $SLURM_NNODES" \
  "$SLURM_TASKS_PER_NODE $SLURM_STEP_ID $SLURM_STEP_NUM_TASKS $SLURM_STEP_NUM_NODES $SLURM_STEP_TASKS_PER_NODE"'
