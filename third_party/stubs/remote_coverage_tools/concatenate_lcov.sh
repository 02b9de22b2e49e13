#!/bin/bash
# Concatenates lcov records: every *.dat of --coverage_dir, or every file that
# the list in --reports_file names, into --output_file.
set -euo pipefail

for argument in "$@"; do
  case "$argument" in
    --coverage_dir=*) coverage_dir="${argument#*=}" ;;
    --reports_file=*) reports_file="${argument#*=}" ;;
    --output_file=*) output_file="${argument#*=}" ;;
  esac
done

: > "$output_file"
if [[ -n "${reports_file:-}" ]]; then
  xargs -r -d '\n' cat -- < "$reports_file" >> "$output_file"
elif [[ -n "${coverage_dir:-}" ]]; then
  find -L "$coverage_dir" -name '*.dat' ! -samefile "$output_file" \
    -exec cat {} + >> "$output_file"
fi
