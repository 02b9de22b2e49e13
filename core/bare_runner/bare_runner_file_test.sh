#!/bin/bash
# The bare runner is one static file for a machine (readelf's word), which asks for no loader, and stripped of at most so many bytes.
# Usage: bare_runner_file_test.sh RUNNER MACHINE MAX_BYTES
set -euo pipefail
stripped=$TEST_TMPDIR/runner
llvm-strip-14 -o "$stripped" "$1"
bytes=$(stat -c %s "$stripped")
echo "stripped: $bytes bytes"
if ((bytes > $3)); then
  echo "more than $3 bytes"
  exit 1
fi
header=$(llvm-readelf-14 -h "$1" | grep "Machine:")
if [[ "$header" != *"$2" ]]; then
  echo "not for $2: $header"
  exit 1
fi
if llvm-readelf-14 -lW "$1" | grep -E "INTERP|DYNAMIC"; then
  echo "it needs a loader"
  exit 1
fi
if llvm-readelf-14 -lW "$1" | grep -E "LOAD.* RWE "; then
  echo "it has memory that is both written and run"
  exit 1
fi
