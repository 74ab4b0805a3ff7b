#!/bin/sh
# Makes the passwords, keys and addresses of a new installation, in ./secrets. What is there already
# stays: a DATABASE_URL or REDIS_URL of your own, too.
set -eu
cd "$(dirname "$0")"
umask 077
mkdir -p secrets
for name in POSTGRES_PASSWORD VALKEY_PASSWORD TRAINYARD_SECRET_KEY TRAINYARD_ADMIN_PASSWORD; do
    if [ ! -s "secrets/$name" ]; then
        head -c 24 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"secrets/$name"
    fi
done
if [ ! -s secrets/DATABASE_URL ]; then
    printf 'postgresql://trainyard:%s@postgres:5432/trainyard' "$(cat secrets/POSTGRES_PASSWORD)" \
        >secrets/DATABASE_URL
fi
if [ ! -s secrets/REDIS_URL ]; then
    printf 'redis://:%s@valkey:6379/0' "$(cat secrets/VALKEY_PASSWORD)" >secrets/REDIS_URL
fi
