#!/bin/bash
# Runs check_layering.py, which must succeed or, if a violation is expected,
# fail and name it.
# Usage: check_layering_test.sh CHECKER TABLE GRAPH ROOT EXPECTED_VIOLATION
set -uo pipefail

output="$(python3 "$1" "$2" "$3" "$4" 2>&1)"
status=$?
echo "$output"
if [[ -z "$5" ]]; then
  exit "$status"
fi
if [[ "$status" != 1 || "$output" != *"$5"* ]]; then
  echo "expected a violation that says: $5"
  exit 1
fi
