#!/bin/bash
#SBATCH --job-name=ty-00000000000040008000000000000001-1
#SBATCH --comment=team-a/mnist
#SBATCH --account=vision
#SBATCH --ntasks=2
#SBATCH --cpus-per-task=1
#SBATCH --chdir=/shared/trainyard/workloads/00000000000040008000000000000001/runs/1
#SBATCH --output=/shared/trainyard/workloads/00000000000040008000000000000001/runs/1/batch.log
#SBATCH --open-mode=append
#SBATCH --requeue
#SBATCH --export=ALL

RUN=/shared/trainyard/workloads/00000000000040008000000000000001/runs/1
BELL=/shared/trainyard/changed/00000000000040008000000000000001
GRACE=30
BACKOFF_LIMIT=6
TIME_LIMIT=''
export BELL
step() { exec srun --kill-on-bad-exit=1 --wait=0 --export=ALL --distribution=block --cpus-per-task=1 "$@"; }

bring() { # fetch what the ranks read; it can be stopped as they can
  setsid bash fetch.sh >> "attempt-$attempt/rank-0.log" 2>&1 &
  fetching=$!
  while kill -0 "$fetching" 2> /dev/null; do wait "$fetching"; done
  wait "$fetching"
  local code=$?
  fetching=
  rm -f stage
  [ "$code" != 0 ] || rm -rf keys # no longer needed
  return "$code"
}

# Only one job has this run. Another of the same name, whose submission got no answer, ends here.
cd "$RUN" || exit 0
if ! (set -o noclobber; echo "$SLURM_JOB_ID" > claim) 2> /dev/null; then
  other=$(cat claim)
  if [ "$other" != "$SLURM_JOB_ID" ]; then
    until jobs=$(squeue --noheader --name="$SLURM_JOB_NAME" --format=%A); do sleep 5; done
    if [ -e finished ] || grep -qx "$other" <<< "$jobs"; then
      echo "Job $other has this run: job $SLURM_JOB_ID leaves it alone."
      exit 0
    fi
    echo "$SLURM_JOB_ID" > claim
  fi
fi

rm -f finished ended # from an earlier start of this job, which Slurm requeued
echo "${SLURM_RESTART_COUNT:-0}" > restart
follows() { # exit if a later start of the job has the run: this node was cut off and given up
  [ "$(cat restart)" = "${SLURM_RESTART_COUNT:-0}" ] || exit 0
}

fact() { echo "$2" > ".$1" && mv ".$1" "$1" && : > "$BELL"; } # write a one-line file atomically
ends() { [ -e stop ] || [ -e limit ]; }

finish() { # end the run with an exit code; "asked" if its end was requested
  follows
  fact finished "$SLURM_JOB_ID $1 $(date +%s) ${ending:+asked}"
  rm -rf environment.sh files keys volumes
  [ -z "$timer$sampler" ] || kill $timer $sampler
  exit "$1"
}

leave_if_taken() { # Slurm may have ended the ranks itself, and then reports how the job ended
  until job=$(scontrol --oneliner show job "$SLURM_JOB_ID" 2> /dev/null) || [ "$1" = 0 ]; do
    follows # Slurm does not answer, so the network may have failed
    scontrol ping 2> /dev/null | grep -q ' UP' && break
    sleep 2
  done
  follows
  if grep -q ' PreemptTime=[0-9]' <<< "$job"; then sleep infinity; fi # until Slurm takes the nodes
  if [ -n "$job" ] && ! grep -q ' JobState=RUNNING ' <<< "$job"; then exit "$1"; fi
  [ -z "$cancelled" ] || exit "$1"
}

end_ranks() { # send SIGTERM to all; those that outlive the grace period are killed with the job
  if ! ends; then
    cancelled=yes
    ! declare -F pass_on > /dev/null || pass_on TERM
  fi
  [ -z "$fetching" ] || kill -TERM -- "-$fetching"
  [ -z "$cancelled" ] && [ -n "$step" ] && [ -z "$ending" ] || return
  ending=yes
  scancel --signal=TERM "$SLURM_JOB_ID"
  [ -z "$LAUNCHER" ] || kill -TERM -- "-$step"
  (sleep "$GRACE"; kill -KILL -- "${LAUNCHER:+-}$step") 2> /dev/null &
}
trap end_ranks TERM

timer= sampler= follower= step= ending= cancelled= fetching=
if [ -n "$TIME_LIMIT" ]; then
  (sleep "$TIME_LIMIT"; : > limit; : > "$BELL"; kill -TERM $$) 2> /dev/null &
  timer=$!
fi
! declare -F sample > /dev/null || sample

address() { # the address of a node, whose name may not resolve
  local at
  at=$(scontrol show node "$1" | sed -n 's/.*NodeAddr=\([^ ]*\).*/\1/p')
  echo "${at:-$1}"
}
MASTER_ADDR=$(address "$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)")
export MASTER_ADDR

attempt=$(cat attempt 2> /dev/null || echo -1)
failures=0
until ends; do
  attempt=$((attempt + 1))
  export ATTEMPT=$attempt MASTER_PORT=$((20000 + (SLURM_JOB_ID + attempt) % 10000))
  mkdir -p "attempt-$attempt"
  rm -f trouble
  fact attempt "$attempt"
  if declare -F bring > /dev/null && ! bring; then
    ! ends || break
    code=1
  else
    ! declare -F meet > /dev/null || meet
    ! ends || break
    step bash "$RUN/rank.sh" &
    step=$!
    if declare -F follow_lead > /dev/null; then
      (follow_lead "$step") 2> /dev/null &
      follower=$!
    fi
    while kill -0 "$step" 2> /dev/null; do wait "$step"; done # a signal interrupts waiting
    wait "$step"
    code=$?
    step=
    if [ -n "$follower" ]; then
      kill "$follower" 2> /dev/null
      follower=
      if [ -e "attempt-$attempt/led" ]; then code=0 ending=; fi
    fi
    ! declare -F part > /dev/null || part "$code"
  fi
  [ -z "$ending" ] || finish "$code"
  leave_if_taken "$code"
  [ "$code" = 0 ] && finish 0
  failures=$((failures + 1))
  [ "$failures" -gt "$BACKOFF_LIMIT" ] && finish "$code"
  sleep $((failures < 6 ? 2 ** (failures - 1) : 60)) &
  wait $!
done
ending=yes
finish 143
