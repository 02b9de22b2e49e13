#!/bin/bash
# The agent is one file of at most 20 MB, stripped, that needs nothing but glibc.
set -euo pipefail
agent=$1
stripped=$TEST_TMPDIR/agent
strip -o "$stripped" "$agent"
bytes=$(stat -c %s "$stripped")
echo "stripped: $bytes bytes"
if ((bytes > 20000000)); then
  echo "more than 20,000,000 bytes"
  exit 1
fi
needed=$(readelf -d "$agent" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
echo "needs: $needed"
for library in $needed; do
  case $library in
    libc.so.6 | libm.so.6 | ld-linux-*.so.*) ;;
    *)
      echo "$library is not of glibc"
      exit 1
      ;;
  esac
done
