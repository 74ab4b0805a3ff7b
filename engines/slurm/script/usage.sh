
sample() { # record what the ranks use: Slurm reports it only to the owner of a job
  local ids=$SLURM_JOB_ID
  [ "${SLURM_HET_SIZE:-1}" = 1 ] || ids=$ids,$((SLURM_JOB_ID + 1))
  (
    while sleep EVERY; do
      { date "+at %s.%N" && sstat --noheader --parsable2 --allsteps --format=COLUMNS --jobs="$ids"; } \
        > .usage && mv .usage usage
    done
  ) 2> /dev/null &
  sampler=$!
}
