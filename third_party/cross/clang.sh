#!/bin/bash
# The compiler for other architectures: clang-14, or what is missing for it.
set -euo pipefail
for argument in "$@"; do
  case "$argument" in
    --sysroot=*)
      sysroot="${argument#--sysroot=}"
      if [[ ! -d "$sysroot" ]]; then
        echo "there is no $sysroot: run deploy/install-deps" >&2
        exit 1
      fi
      ;;
  esac
done
exec /usr/bin/clang-14 "$@"
