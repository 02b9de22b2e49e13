#!/bin/bash
# The command links libedit, and none of the libraries does.
# Usage: line_editor_test.sh LABELS_OF_LIBRARIES LABELS_OF_COMMAND
set -euo pipefail
if grep -F //third_party/libedit "$1"; then
  echo "a library depends on the line editor; //client:slipway alone may" >&2
  exit 1
fi
grep -qF //third_party/libedit:libedit "$2"
