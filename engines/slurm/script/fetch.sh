cd "$(dirname "$0")" || exit 1
export GIT_TERMINAL_PROMPT=0 LC_ALL=C
export AWS_CONFIG_FILE=/dev/null AWS_SHARED_CREDENTIALS_FILE=/dev/null
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
  if "$@" "volumes/$number.part" > volumes/said 2>&1 && mv "volumes/$number.part" "volumes/$number"; then
    echo "Fetched $what for $place ($((SECONDS - began)) s)."
    exit 0
  fi
  said=$(tr '\r' '\n' < volumes/said | grep -E '^(fatal:|error:|Host key)' | tail -n 3 | tr '\n' ' ')
  [ -n "$said" ] || said=$(tail -n 1 volumes/said)
  for secret in "$GIT_PASSWORD" "$AWS_SECRET_ACCESS_KEY"; do # a server may repeat what it got
    [ -z "$secret" ] || said=${said//"$secret"/•••}
  done
  said="$failed $(echo "$said" | sed 's/[. ]*$//')."
  fact trouble "$said"
  echo "$said"
  exit 1
)

git_source() { # $1 repository, $2 branch, $3 revision, $4 what asks for the password, $5 folder
  command -v git > /dev/null || { echo "$(hostname) has no git program"; return 1; }
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
  python=$(command -v python3 || command -v python) ||
    { echo "$(hostname) has no python3 program"; return 1; }
  "$python" fetch/bucket.py "$1" "$3" ${2:+"$2"}
}
