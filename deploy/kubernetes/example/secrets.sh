#!/bin/sh
# Makes the passwords and keys of a new installation, in ./secrets. What is there already stays.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for name in POSTGRES_PASSWORD VALKEY_PASSWORD TRAINYARD_SECRET_KEY TRAINYARD_ADMIN_PASSWORD; do
    if [ ! -s "secrets/$name" ]; then
        head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"secrets/$name"
    fi
done
printf 'postgresql://trainyard:%s@postgres:5432/trainyard' "$(cat secrets/POSTGRES_PASSWORD)" \
    >secrets/DATABASE_URL
printf 'redis://:%s@valkey:6379/0' "$(cat secrets/VALKEY_PASSWORD)" >secrets/REDIS_URL
