
LINGER=30 # seconds that the others have once their lead has succeeded
follow_lead() { # end the other ranks some time after their lead. $1 the process of the step
  until [ -e "attempt-$attempt/led" ]; do sleep 1; done
  sleep "$LINGER"
  scancel --signal=TERM "$SLURM_JOB_ID"
  sleep "$GRACE"
  kill -KILL "$1"
}
