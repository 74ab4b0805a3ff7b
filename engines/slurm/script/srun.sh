# The srun that a batch script finds first. Each task prints to the log of its rank, unless the
# script takes the output elsewhere: by $( ), a pipe, a redirection or an option of srun.
run=$(cd "$(dirname "$0")/.." && pwd) || exit 1
read -r attempt < "$run/attempt"
log=$run/attempt-$attempt
unset -f srun # tasks find the usual one
PATH=:$PATH:
PATH=${PATH//":$run/bin:"/:}
PATH=${PATH#:}
PATH=${PATH%:}

is_shell() { # whether a program is a shell or a script for one
  local first
  case ${1##*/} in sh|bash|dash|ksh|zsh) return 0 ;; esac
  first=$(type -P "$1") && first=$(head -c 64 "$first" | tr -d '\0' | head -n 1)
  grep -Eq '^#! *[^ ]*/(env +)?(ba|da|k|z)?sh( |$)' <<< "$first"
}
step=() # what srun gets
add_program() { # the words of a program: options of srun, then the program
  local own_output=$SLURM_STDOUTMODE own_error=$SLURM_STDERRMODE is_value= has_other_program=
  local program=0 word letters letter options=() redirection= # program: its position
  for word; do # the options of srun, which end at its program
    program=$((program + 1))
    if [ -n "$is_value" ]; then
      is_value=
      continue
    fi
    case $word in
      --pty*) exec srun "${words[@]}" ;; # cannot have a log
      --ou*) own_output=yes ;;&
      --er*) own_error=yes ;;&
      --container*|--multi*) has_other_program=yes ;;&
      --*=*) ;;
      --contiguous|--disable-status|--exact|--exclusive|--get-user-env|--help|--hold|--immediate) ;;
      --interactive|--join|--kill-on-bad-exit|--label|--multi-prog|--nice|--no-allocate) ;;
      --no-kill|--overcommit|--overlap|--oversubscribe|--preserve-env|--propagate|--quiet) ;;
      --quit-on-interrupt|--reboot|--resv-ports|--spread-job|--test-only|--unbuffered|--usage) ;;
      --use-min-nodes|--verbose|--version|--whole|--x11) ;;
      --?*) is_value=yes ;;
      -[!-]*)
        letters=${word#-}
        while [ -n "$letters" ]; do
          letter=${letters:0:1}
          letters=${letters:1}
          case $letter in
            [EhHlOQRsuvVXZ]) continue ;;
            [IkK]) break ;; # a value can only follow at once
            o) own_output=yes ;;
            e) own_error=yes ;;
          esac
          [ -n "$letters" ] || is_value=yes
          break
        done ;;
      *) break ;;
    esac
  done

  if [ -z "$own_output" ] && [ /dev/stdout -ef "$log/rank-0.log" ]; then
    redirection='>> "$log/rank-$SLURM_PROCID.log"'
    [ /dev/stderr -ef "$log/rank-0.log" ] && redirection+=' 2>&1'
    options=(--output="$log/rank-%t.log" --open-mode=append)
    # Errors follow the output, unless they already go elsewhere.
    [ /dev/stderr -ef "$log/rank-0.log" ] || options+=(--error=all)
  elif [ -z "$own_output$own_error" ] && [ /dev/stderr -ef "$log/rank-0.log" ]; then
    options=(--error="$log/rank-%t.log" --open-mode=append)
  fi
  word=
  [ "$program" = 0 ] || word=${!program}
  case $word in -*) has_other_program=yes ;; esac # there is none
  [ -n "$has_parts" ] || case " $* " in *' : '*) has_other_program=yes ;; esac # several, in vain
  if [ -z "$has_other_program" ] && is_shell "$word"; then
    # By its path, because a task may have no PATH.
    set -- "${@:1:program-1}" "$BASH" "$run/keep.sh" "${@:program}"
  fi
  if [ -n "$has_parts" ] && [ -n "$redirection" ] && [ -z "$has_other_program" ]; then
    # In the later parts of a job, %t is not the rank.
    set -- "${@:1:program-1}" "$BASH" -c "log=\$0; exec \"\$@\" $redirection" "$log" "${@:program}"
    options=()
  fi
  step+=("${options[@]}" "$@")
}

words=("$@") part=() has_parts=
[ "${SLURM_HET_SIZE:-1}" = 1 ] || has_parts=yes
for word; do
  if [ -n "$has_parts" ] && [ "$word" = : ]; then
    add_program "${part[@]}"
    step+=(:)
    part=()
  else
    part+=("$word")
  fi
done
add_program "${part[@]}"
exec srun "${step[@]}"
