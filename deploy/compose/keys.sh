#!/bin/bash
# Makes the keys of unsubscribe links and a token of role admin, once: what is there is left as it is.
set -euo pipefail
umask 077

KEYS=${1:-/var/lib/sendgate-keys}

[ -e "$KEYS/links.keys" ] || sendgate link-key new --file "$KEYS/links.keys"
# The token is nowhere else: what `serve` reads is its hash.
if [ ! -e "$KEYS/tokens" ]; then
  token=$(sendgate token new --role admin --name developer --file "$KEYS/tokens")
  echo "$token" >"$KEYS/developer.token"
fi
