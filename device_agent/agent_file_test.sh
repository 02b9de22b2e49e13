#!/bin/bash
# The agent is one file that needs nothing but glibc, for a machine (readelf's word), and stripped of at most so many bytes.
# Usage: agent_file_test.sh AGENT MACHINE MAX_BYTES
set -euo pipefail
agent=$1
machine=$2
max_bytes=$3
stripped=$TEST_TMPDIR/agent
llvm-strip-14 -o "$stripped" "$agent"
bytes=$(stat -c %s "$stripped")
echo "stripped: $bytes bytes"
if ((bytes > max_bytes)); then
  echo "more than $max_bytes bytes"
  exit 1
fi
header=$(llvm-readelf-14 -h "$agent" | grep "Machine:")
if [[ "$header" != *"$machine" ]]; then
  echo "not for $machine"
  exit 1
fi
needed=$(llvm-readelf-14 -d "$agent" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort | tr '\n' ' ')
echo "needs: $needed"
[[ -n "$needed" ]]
for library in $needed; do
  case $library in
    libc.so.6 | libm.so.6 | ld-linux-*.so.*) ;;
    *)
      echo "$library is not of glibc"
      exit 1
      ;;
  esac
done
