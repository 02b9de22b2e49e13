#!/bin/sh
# stand_in_shell.sh HOME LINE: carries out a line as the shell of another machine does that ssh or adb reach: in a home folder of its
# own, and with nothing of this machine's environment.
mkdir -p "$1" && cd "$1" || exit 1
exec env -i HOME="$1" PATH="$PATH" sh -c "$2"
