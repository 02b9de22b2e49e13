#!/bin/bash
# A binary with static_runtime needs nothing but glibc, and runs.
# Usage: static_binary_test.sh BINARY
set -euo pipefail

[[ "$("$1")" == "linked" ]]

# Sanitizers bring libraries of their own.
if nm -D "$1" | grep -q '__asan_init\|__ubsan_\|__tsan_init'; then
  exit 0
fi
needed="$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p')"
unexpected="$(grep -vE '^(libc|libm|ld-linux-[a-z0-9-]+)\.so\.[0-9]+$' \
  <<< "$needed" || true)"
if [[ -n "$unexpected" ]]; then
  echo "the binary also needs:" $unexpected
  exit 1
fi
