#!/bin/sh
# Starts vloc with the Node in lib/. The archives for macOS have this script as their program: Node must stay as its makers signed it.
program=$0
# Package managers link to it from elsewhere.
while [ -h "$program" ]; do
  target=$(readlink "$program")
  case $target in
  /*) program=$target ;;
  *) program=$(dirname "$program")/$target ;;
  esac
done
lib=$(dirname "$program")/lib
if [ ! -e "$lib/bin/vloc.js" ]; then
  echo "vloc cannot start: the folder $lib is missing. Unpack the whole archive again, and link to the program instead of moving it." >&2
  exit 4
fi
exec "$lib/node" "$lib/bin/vloc.js" "$@"
