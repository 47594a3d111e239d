#!/bin/sh
# Starts a PostgreSQL server for trying things out, from the installed programs; `make up` calls this. `make down` stops it; with --stop
# this does. The data stays.
#
# It listens on 127.0.0.1 only, port 5480 (PORT=…). The data is in .postgres; as root, which PostgreSQL refuses, in the folder
# recollect of the home of the user postgres.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/Scripts/needs.sh"
port=${PORT:-5480}

programs=
for folder in "$(pg_config --bindir 2>/dev/null || true)" /usr/lib/postgresql/*/bin /opt/homebrew/opt/postgresql@*/bin; do
    [ -x "$folder/initdb" ] && programs=$folder
done
[ -n "$programs" ] || stop "PostgreSQL is not installed: apt-get install postgresql, or brew install postgresql@15."

if [ "$(id -u)" = 0 ]; then
    home=$(getent passwd postgres | cut -d: -f6)
    [ -n "$home" ] || stop "There is no user postgres: install PostgreSQL, or run this as another user than root."
    data=$home/recollect
    as_owner() { (cd / && setpriv --reuid postgres --regid postgres --init-groups "$@"); }
else
    data=$root/.postgres
    as_owner() { "$@"; }
fi

if [ "${1:-}" = --stop ]; then
    as_owner "$programs/pg_ctl" -D "$data" -m fast stop
    exit
fi

if ! [ -e "$data/PG_VERSION" ]; then
    as_owner mkdir -p "$data"
    as_owner chmod 700 "$data"
    password=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
    printf '%s\n' "$password" | as_owner sh -c "umask 077 && cat >'$data.password'"
    as_owner "$programs/initdb" -D "$data" -U recollect --pwfile="$data.password" --auth=scram-sha-256 --encoding=UTF8 \
        --locale=C --no-instructions >/dev/null
    as_owner rm "$data.password"
    # Only this user can read the password.
    (umask 077 && printf '127.0.0.1:*:*:recollect:%s\n' "$password" >"$root/.postgres-password")
fi
as_owner "$programs/pg_ctl" -D "$data" status >/dev/null 2>&1 ||
    as_owner "$programs/pg_ctl" -D "$data" -l "$data/log" -w \
        -o "-p $port -c listen_addresses=127.0.0.1 -c unix_socket_directories=''" start >/dev/null ||
    stop "The server did not start; its log is $data/log. For another port: make up PORT=…"
port=$(sed -n 4p "$data/postmaster.pid")
export PGPASSFILE="$root/.postgres-password"
"$programs/psql" -X -A -t -h 127.0.0.1 -p "$port" -U recollect -d postgres \
    -c "SELECT datname FROM pg_database WHERE datname = 'recollect'" | grep -q . ||
    "$programs/createdb" -h 127.0.0.1 -p "$port" -U recollect recollect

cat <<EOF
PostgreSQL is running on 127.0.0.1:$port. To stop it: make down

Next steps:   export PGPASSFILE='$root/.postgres-password'
              export RECOLLECT_STORE=postgres://recollect@127.0.0.1:$port/recollect
              recall postgres init
EOF
