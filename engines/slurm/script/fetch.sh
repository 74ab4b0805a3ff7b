cd "$(dirname "$0")" || exit 1
export GIT_TERMINAL_PROMPT=0 LC_ALL=C
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null AWS_EC2_METADATA_DISABLED=true
ABSENT=127 # the code of a command that the node lacks
fact() { echo "$2" > ".$1" && mv ".$1" "$1" && : > "$BELL"; } # write a one-line file atomically

# Fetch a data source, completely or not at all. $1 number, $2 what, $3 its path, $4 what to say if it
# fails, $5… the command
fetch() (
  number=$1 what=$2 place=$3 failed=$4 began=$SECONDS
  shift 4
  [ ! -e "volumes/$number" ] || exit 0 # fetched by an earlier start
  rm -rf "volumes/$number.part" && mkdir -p volumes || exit 1
  fact stage "Fetching $what for $place."
  [ ! -e "keys/$number.sh" ] || . "keys/$number.sh"
  "$@" "volumes/$number.part" > volumes/said 2>&1
  code=$?
  if [ "$code" = 0 ] && mv "volumes/$number.part" "volumes/$number"; then
    echo "Fetched $what for $place ($((SECONDS - began)) s)."
    exit 0
  fi
  said=$(tr '\r' '\n' < volumes/said | grep -E '^(fatal:|error:|Host key)' | tail -n 3 | tr '\n' ' ')
  [ -n "$said" ] || said=$(tail -n 1 volumes/said)
  for secret in "$GIT_PASSWORD" "$AWS_SECRET_ACCESS_KEY"; do # a server may repeat what it got
    [ -z "$secret" ] || said=${said//"$secret"/•••}
  done
  said="$(echo "$said" | sed 's/[. ]*$//')."
  [ "$code" = "$ABSENT" ] || said="$failed $said"
  fact trouble "$said"
  echo "$said"
  exit 1
)

has() { # whether the node has the program $1; $2 what to install if not
  command -v "$1" > /dev/null && return
  echo "The node $(hostname) has no $1 program, so $what cannot be fetched for $place: ask its administrator to install $2, or load it in the cluster's prologue"
  return "$ABSENT"
}

git_source() { # $1 repository, $2 branch, $3 revision, $4 what asks for the password, $5 folder
  has git git || return
  if [ -e "keys/$number.key" ]; then
    hosts="-o StrictHostKeyChecking=accept-new"
    [ ! -e "keys/$number.hosts" ] ||
      hosts="-o StrictHostKeyChecking=yes -o UserKnownHostsFile='$PWD/keys/$number.hosts' -o GlobalKnownHostsFile=none"
    export GIT_SSH_COMMAND="ssh -F none -i '$PWD/keys/$number.key' -o BatchMode=yes -o IdentitiesOnly=yes -o IdentityAgent=none $hosts"
  else
    export GIT_SSH_COMMAND="ssh -o BatchMode=yes -o StrictHostKeyChecking=accept-new"
  fi
  # The password of an http:// server is also for https://, to which it usually redirects.
  git ${4:+-c credential.helper= -c "$4" -c "${4/#credential.http:/credential.https:}"} clone --progress ${2:+--branch "$2"} -- "$1" "$5" || return
  [ -z "$3" ] || git -C "$5" -c advice.detachedHead=false checkout --quiet "$3"
}

s3_source() { # $1 bucket, $2 service or nothing, $3 folder
  has aws "the AWS command line" || return
  sign= # with the keys in the environment, where no other user of the node sees them
  [ -n "$AWS_ACCESS_KEY_ID" ] || sign=--no-sign-request
  mkdir "$3" && aws s3 sync --only-show-errors $sign ${2:+"--endpoint-url=$2"} "s3://$1" "$3"
}
