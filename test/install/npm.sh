#!/bin/sh
# `npx vloc localize` from the packed npm package, with an empty home folder and an empty cache.
. "$(dirname "$0")/tools.sh"
for program in npm ffmpeg pocketsphinx_batch apertium espeak-ng; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done

mkdir "$work/home" "$work/videos"
cp "$sample" "$work/videos/talk.mp4"
cd "$work/videos"
# Nothing of this user's settings, npm's included, but where it fetches packages and which authority vouches for that server.
registry=$(npm config get registry)
clean() {
  env -i PATH="$PATH" HOME="$work/home" LANG=C.UTF-8 ${NODE_EXTRA_CA_CERTS:+"NODE_EXTRA_CA_CERTS=$NODE_EXTRA_CA_CERTS"} \
    npm_config_registry="$registry" npm_config_update_notifier=false "$@"
}
clean npx --yes --package="$files/vloc-$version.tgz" -- vloc localize talk.mp4 --to es
check_video talk.es.mp4

# What npm leaves in the home folder, and nothing else.
left=$(ls -A "$work/home")
[ "$(echo "$left" | grep -cv '^\.npm$\|^\.local$\|^\.cache$\|^\.config$')" -eq 0 ] || fail "these were left in the home folder: $left"
