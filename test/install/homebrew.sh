#!/bin/sh
# The formula of Homebrew, unchanged, in a tap of its own. Instead of the download, the archive of this system is in brew's cache.
. "$(dirname "$0")/tools.sh"
command -v brew >/dev/null || skip 'brew is not installed'
[ "$(id -u)" -ne 0 ] || skip 'brew does not run as root'
find_manifests

tap=vloc/trial
mkdir "$work/home"
# Nothing of this user's settings and caches, and no changes of other formulas.
homebrew() {
  env -i PATH="$PATH" HOME="$work/home" LANG=C.UTF-8 HOMEBREW_CACHE="$work/cache" HOMEBREW_LOGS="$work/logs" \
    HOMEBREW_NO_ANALYTICS=1 HOMEBREW_NO_AUTO_UPDATE=1 HOMEBREW_NO_AUTOREMOVE=1 HOMEBREW_NO_ENV_HINTS=1 \
    HOMEBREW_NO_INSTALL_CLEANUP=1 HOMEBREW_NO_INSTALLED_DEPENDENTS_CHECK=1 brew "$@"
}
# Runs brew, and shows what it printed only if it fails.
try() {
  homebrew "$@" >"$work/brew.log" 2>&1 || fail "brew $*: $(tail -n 20 "$work/brew.log")"
}
prefix=$(homebrew --prefix)
[ ! -e "$prefix/opt/vloc" ] || skip 'brew has installed a vloc already'
# brew keeps its locks.
traces() {
  find "$prefix/" -name '*vloc*' ! -path '*/var/homebrew/locks/*' 2>/dev/null | sort
}
traces >"$work/before"
remove() {
  homebrew uninstall --formula --force "$tap/vloc"
  homebrew untap "$tap"
}
trap 'remove >/dev/null 2>&1 || :; rm -rf "$work"' EXIT

try tap-new --no-git "$tap"
cp "$manifests/homebrew/vloc.rb" "$(homebrew --repository "$tap")/Formula/vloc.rb"
# brew chooses the system. In the cache, two hyphens are before the name of the file.
cached=$(homebrew --cache --formula --build-from-source "$tap/vloc")
archive=$files/${cached##*--}
[ -e "$archive" ] || fail "$archive is missing"
mkdir -p "$(dirname "$cached")"
cp "$archive" "$cached"

# These need Ruby packages that Homebrew does not include.
if homebrew install-bundler-gems --add-groups=audit,style >/dev/null 2>&1; then
  try style "$tap/vloc"
  # It objects to versions before a release.
  case $version in *-*) ;; *) try audit --formula --strict "$tap/vloc" ;; esac
else
  echo 'brew style and brew audit were not run: their Ruby packages cannot be fetched'
fi

try install --formula "$tap/vloc"
try test "$tap/vloc"
installed() {
  env -i PATH="$prefix/bin:/usr/bin:/bin" HOME="$work/home" LANG=C.UTF-8 "$@"
}
[ "$(installed vloc --version)" = "$version" ] || fail 'it does not print its version'
for path in share/man/man1/vloc.1 share/zsh/site-functions/_vloc share/fish/vendor_completions.d/vloc.fish; do
  [ -s "$prefix/$path" ] || fail "$path is missing"
done
installed bash -c '. "$0" && complete -p vloc' "$prefix/etc/bash_completion.d/vloc" >/dev/null || fail 'bash completes nothing'
installed vloc upgrade | grep -q 'brew upgrade vloc' || fail 'it does not know that Homebrew installed it'
if installed sh -c 'for engine in ffmpeg pocketsphinx_batch apertium espeak-ng; do command -v $engine || exit 1; done' >/dev/null; then
  cp "$sample" "$work/talk.mp4"
  (cd "$work" && installed vloc localize talk.mp4 --to es)
  check_video "$work/talk.es.mp4"
else
  echo 'nothing was localized: the engines are not installed'
fi

try uninstall --formula "$tap/vloc"
try untap "$tap"
traces >"$work/after"
left=$(diff "$work/before" "$work/after") || fail "it left $left"
echo 'installed, used and removed'
