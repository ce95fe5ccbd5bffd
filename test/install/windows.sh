#!/bin/sh
# The archive for Windows, under Wine in a fresh Debian: it starts anywhere, also where Scoop and winget put it, and separates the sound
# of a video with its native parts. Wine is not Windows; the release workflow starts the archive there, too.
. "$(dirname "$0")/tools.sh"
for program in mmdebstrap unshare chroot unzip ffmpeg; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip 'this needs root'
[ "$(dpkg --print-architecture)" = amd64 ] || skip 'this machine is not amd64'

root=$work/root
# The Wine of Debian 12 lacks memory functions that Node needs.
mmdebstrap --quiet --variant=apt --include=wine,wine64 trixie "$root"
home=$root/root
drive=$home/.wine/drive_c
inside() {
  unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 WINEDEBUG=-all WINEPATH="Z:\\opt" "$@"' "$root" "$@"
}
# Starts a program of Windows. Its output goes to files: under Wine, Node cannot write to a pipe.
windows() {
  inside sh -c 'cd && wine "$@" >out 2>errors </dev/null; code=$?; wineserver --kill; exit $code' sh "$@"
}
# As above, and fails with what the program said.
vloc() {
  windows "$program" "$@" || fail "vloc $1 ends with $?: $(cat "$home/out" "$home/errors")"
}
installed_by() {
  vloc upgrade -o json
  grep -q "\"installed_by\": *\"$1\"" "$home/out" || fail "it does not know that it is from $1: $(cat "$home/out")"
}

inside sh -c 'wineboot --init && wineserver --wait' >"$work/wine.log" 2>&1 || fail "there is no Windows: $(cat "$work/wine.log")"
mkdir "$drive/my tools"
unzip -q "$files/vloc-$version-windows-x64.zip" -d "$drive/my tools"
folder="$drive/my tools/vloc-$version-windows-x64"
program="C:\\my tools\\vloc-$version-windows-x64\\vloc.exe"
vloc --version
[ "$(cat "$home/out")" = "$version" ] || fail "it prints $(cat "$home/out")"
installed_by standalone
vloc completion powershell
grep -q Register-ArgumentCompleter "$home/out" || fail 'it finds no completions'
code=0
windows "$program" --no-such-option || code=$?
[ $code -eq 2 ] || fail "a wrong option ends with $code"
cp "$folder/vloc.exe" "$drive/alone.exe"
if windows 'C:\alone.exe' --version; then fail 'it runs without its folder'; fi
grep -q 'Unpack the whole archive again' "$home/errors" || fail "it says: $(cat "$home/errors")"

# Native parts, files and processes. These packages have the programs for Windows in them.
for package in @ffmpeg-installer/win32-x64@4.1.0 @ffprobe-installer/win32-x64@5.1.0; do
  tar -xzf "$work/$(cd "$work" && npm pack --silent --prefer-offline $package)" -C "$root/opt" --strip-components 1
done
cp "$sample" "$home/talk.mp4"
vloc separate talk.mp4
check_video "$home/talk.vocals.wav"
check_video "$home/talk.background.wav"

# `vloc upgrade` tells package managers apart by their folders.
move() {
  mkdir -p "$drive/$1"
  mv "$folder" "$drive/$1/$2"
  folder=$drive/$1/$2
  program=$(printf 'C:/%s/%s/vloc.exe' "$1" "$2" | tr / '\\')
}
move Tools/apps/vloc "$version"
installed_by scoop
move users/root/AppData/Local/Microsoft/WinGet/Packages/owner.vloc__DefaultSource "vloc-$version-windows-x64"
installed_by winget
echo 'started, used and moved'
