# What the scripts share: installing what is missing, and a broker that ends with the script.
# Sourced, after `cd` to the project's folder. Idempotent and quiet; asks nothing.

packages_build="librdkafka-dev libsimdjson-dev libmicrohttpd-dev libssl-dev liblz4-dev libsqlite3-dev libpq-dev"
packages_run="tzdata kcat python3 python3-venv"

packages_browser="chromium chromium-driver fonts-noto-cjk"
# Tests start servers of their own from it; the cluster that Debian makes beside it may run or not.
packages_server="postgresql-15"

say() { printf '%s\n' "$*"; }
fail() { printf '%s\n' "$*" >&2; exit 1; }

as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

is_installed() { dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'install ok installed'; }

# tz rules change with two weeks' notice: an installed tzdata that Debian has a newer one of is
# replaced, not only a missing one. The package lists are fetched at most once a day.
install_packages() {
  local wanted="" name
  for name in "$@"; do is_installed "$name" || wanted="$wanted $name"; done
  local lists=/var/lib/apt/lists
  if [ -n "$wanted" ] || [ -z "$(find "$lists" -maxdepth 1 -name '*Packages*' -mtime -1 2>/dev/null | head -n 1)" ]; then
    as_root apt-get update -qq || fail "apt-get update failed: is there a network?"
  fi
  if is_newer_available tzdata; then wanted="$wanted tzdata"; fi
  [ -n "$wanted" ] || return 0
  say "installing:$wanted"
  # shellcheck disable=SC2086
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted >/dev/null ||
    fail "apt-get could not install:$wanted"
}

is_newer_available() {
  local have candidate
  have=$(dpkg-query -W -f='${Version}' "$1" 2>/dev/null) || return 1
  candidate=$(apt-cache policy "$1" 2>/dev/null | awk '/Candidate:/ {print $2}')
  [ -n "$candidate" ] && [ "$candidate" != "(none)" ] && dpkg --compare-versions "$candidate" gt "$have"
}

need_swift() { command -v swift >/dev/null || fail "swift is not on the PATH: install Swift 6.3 from swift.org"; }

# A virtual environment with pinned packages: python_packages FOLDER name==version …
python_packages() {
  local folder=$1 stamp
  shift
  stamp="$folder/.installed"
  if [ -f "$stamp" ] && [ "$(cat "$stamp")" = "$*" ]; then return 0; fi
  say "installing Python packages: $*"
  python3 -m venv "$folder" || fail "python3 -m venv failed"
  "$folder/bin/pip" install -q --disable-pip-version-check "$@" || fail "pip could not install: $*"
  printf '%s' "$*" >"$stamp"
}

# Starts a test broker on a free port; sets broker_pid and bootstrap. start_broker SENDGATE FOLDER
start_broker() {
  local ready="$2/broker.out"
  mkdir -p "$2/data"
  "$1" broker --port 0 --data "$2/data" >"$ready" 2>"$2/broker.err" &
  broker_pid=$!
  until grep -q 'listening on' "$ready"; do
    kill -0 "$broker_pid" 2>/dev/null || fail "the broker did not start: $(cat "$2/broker.err")"
    read -rt 0.1 <> <(:) || true
  done
  bootstrap=$(sed -n 's/.*listening on \([0-9.]*:[0-9]*\).*/\1/p' "$ready")
}

stop_broker() {
  if [ -n "${broker_pid:-}" ]; then
    kill "$broker_pid" 2>/dev/null || true
    wait "$broker_pid" 2>/dev/null || true
    broker_pid=""
  fi
}
