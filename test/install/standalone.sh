#!/bin/sh
# The archive for this machine: it runs from any folder and through links, and starts as fast as the npm package. debian.sh
# localizes with it.
. "$(dirname "$0")/tools.sh"
archive=$files/vloc-$version-linux-x64.tar.gz
[ "$(uname -sm)" = 'Linux x86_64' ] || skip 'this is not Linux on x86-64'
[ -e "$archive" ] || fail "$archive is missing"

folder="$work/my tools"
mkdir "$folder" "$work/bin" "$work/home" "$work/npm"
tar -xzf "$archive" -C "$folder"
program="$folder/vloc-$version-linux-x64/vloc"
ln -s "$program" "$work/bin/vloc"
# No Node anywhere, and no other program either.
clean() {
  env -i PATH="$work/bin" HOME="$work/home" "$@"
}
for way in "$program" "$work/bin/vloc"; do
  [ "$(clean "$way" --version)" = "$version" ] || fail "$way does not print its version"
done
clean vloc completion bash | grep -q vloc || fail 'it finds no completions'
clean vloc schema >/dev/null || fail 'it cannot print the schema'
set +e
clean vloc --no-such-option 2>/dev/null
code=$?
set -e
[ $code -eq 2 ] || fail "a wrong option ends with $code"

# Moved away from its folder, it says what is wrong.
cp "$program" "$work/alone"
if clean "$work/alone" --version 2>"$work/message"; then fail 'it runs without its folder'; fi
grep -q 'Unpack the whole archive again' "$work/message" || fail "it says: $(cat "$work/message")"

# The script that is the program for macOS, with Node for this system: everything else is the same there.
if [ -x "$project/node_modules/node/bin/node" ]; then
  mac="$folder/as on a mac"
  cp -R "$folder/vloc-$version-linux-x64" "$mac"
  cp "$project/release/standalone/start.sh" "$mac/vloc"
  ln "$project/node_modules/node/bin/node" "$mac/lib/node" 2>/dev/null || cp "$project/node_modules/node/bin/node" "$mac/lib/node"
  ln -s "$mac/vloc" "$work/bin/vloc-script"
  as_mac() {
    env -i PATH="$work/bin:/usr/bin:/bin" HOME="$work/home" LANG=C.UTF-8 vloc-script "$@"
  }
  [ "$(as_mac --version)" = "$version" ] || fail 'the script for macOS does not print the version'
  as_mac upgrade | grep -q archive || fail 'the script for macOS does not know that it is an archive'
  if (for engine in ffmpeg pocketsphinx_batch apertium espeak-ng; do command -v $engine >/dev/null || exit 1; done); then
    cp "$sample" "$work/talk.mp4"
    (cd "$work" && as_mac localize talk.mp4 --to es)
    check_video "$work/talk.es.mp4"
  fi
fi

echo 'Installing the npm package, to compare.'
echo "{}" >"$work/npm/package.json"
(cd "$work/npm" && npm install --silent --no-audit --no-fund --prefer-offline "$files/vloc-$version.tgz")
node=$(command -v node)
[ -x "$project/node_modules/node/bin/node" ] && node=$project/node_modules/node/bin/node

# CPU time of a child, in hundredths of seconds, added up over many runs: the machine may be busy with something else.
cpu() {
  bash -c 'for i in $(seq 30); do "$@" --help >/dev/null; done; times' sh "$@" | tail -n 1 |
    awk '{ for (i = 1; i <= 2; i++) { split($i, t, "[ms]"); sum += t[1] * 60 + t[2] } printf "%d", sum * 100 }'
}
export HOME="$work/home"
for round in 1 2; do # the first one fills the caches
  installed=$(cpu "$node" "$work/npm/node_modules/vloc/bin/vloc.js")
  standalone=$(cpu "$program")
done
echo "CPU time of 30 starts: npm package $installed, archive $standalone hundredths of a second"
[ $((standalone * 10)) -le $((installed * 13)) ] || fail 'the archive needs more than 1.3 times the CPU time to start'
