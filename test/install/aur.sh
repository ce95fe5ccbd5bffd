#!/bin/sh
# The PKGBUILD of the AUR: makepkg builds the package as a user without rights, and pacman installs it into a fresh root, where it is
# used and removed without a trace. On Arch, the root is an Arch; elsewhere it is a Debian, where the engines are complete and localize
# a video.
. "$(dirname "$0")/tools.sh"
for program in makepkg pacman fakeroot bsdtar runuser unshare; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip 'this needs root'
[ "$(uname -m)" = x86_64 ] || skip 'this machine is not x86_64'
# Only Arch has the packages that vloc depends on; the libraries in them are everywhere.
if [ -e /etc/arch-release ]; then
  command -v pacstrap >/dev/null || skip 'pacstrap is not installed'
  without=
else
  for program in mmdebstrap ffmpeg; do
    command -v "$program" >/dev/null || skip "$program is not installed"
  done
  without='--assume-installed gcc-libs --assume-installed glibc'
fi

echo '-- makepkg'
find_manifests
build=$work/build
cp -R "$manifests/aur" "$build"
# makepkg takes a source that is already there, and checks it as one that it fetched.
cp "$files/vloc-$version-linux-"*.tar.gz "$build/"
chmod 755 "$work"
chown -R nobody "$build"
# It refuses to run as root. The package is only installed here, so it is not compressed.
make_package() {
  processor=$1
  shift
  (cd "$build" && runuser -u nobody -- env -i PATH=/usr/bin:/bin LANG=C.UTF-8 HOME="$build" CARCH="$processor" PKGEXT=.pkg.tar makepkg "$@")
}
make_package x86_64 --printsrcinfo >"$work/SRCINFO" 2>"$work/makepkg.log" || fail "makepkg cannot read the PKGBUILD: $(cat "$work/makepkg.log")"
diff "$build/.SRCINFO" "$work/SRCINFO" || fail '.SRCINFO is not what makepkg prints'
processors=x86_64
# Only built: its programs do not run here.
[ ! -e "$build/vloc-$version-linux-arm64.tar.gz" ] || processors="$processors aarch64"
for processor in $processors; do
  make_package "$processor" --nodeps >"$work/makepkg.log" 2>&1 || fail "makepkg cannot build it for $processor: $(tail -n 5 "$work/makepkg.log")"
  ! grep 'WARNING' "$work/makepkg.log" | grep -v 'Skipping dependency checks' || fail 'makepkg warns'
  echo "built: $processor"
done
package=$(ls "$build"/vloc-bin-*-x86_64.pkg.tar)
echo changed >>"$build/vloc-$version-linux-x64.tar.gz"
if make_package x86_64 --nodeps --force --verifysource >"$work/makepkg.log" 2>&1; then fail 'makepkg takes another archive'; fi
grep -q 'FAILED' "$work/makepkg.log" || fail "makepkg refuses another archive for another reason: $(tail -n 5 "$work/makepkg.log")"

echo '-- pacman'
root=$work/root
if [ -e /etc/arch-release ]; then
  mkdir "$root"
  pacstrap -c "$root" base >"$work/root.log" 2>&1 || fail "there is no fresh root: $(tail -n 5 "$work/root.log")"
else
  mmdebstrap --quiet --variant=apt --include=ca-certificates "${DEBIAN:-bookworm}" "$root"
  mkdir -p "$root/var/lib/pacman"
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Runs a command in it, with its own processes; nothing of this machine's variables.
inside() {
  unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"' "$root" "$@"
}
in_root() {
  pacman --root "$root" --dbpath "$root/var/lib/pacman" --noconfirm "$@"
}
list() {
  (cd "$root" && find usr etc opt | sort)
}
install_package() {
  # shellcheck disable=SC2086 # two options, or none
  in_root -U $without "$package" >"$work/install.log" 2>&1 || fail "pacman cannot install it: $(tail -n 5 "$work/install.log")"
}
list >"$work/before"
install_package
in_root -Qkk vloc-bin >"$work/check.log" 2>&1 || fail "the installed files are not those of the package: $(cat "$work/check.log")"
others=$(find "$root/usr/lib/vloc" "$root/usr/bin/vloc" \( ! -user root -o ! -group root -o ! -type l -perm /022 \))
[ -z "$others" ] || fail "others than root can change $others"
[ "$(inside vloc --version)" = "$version" ] || fail 'it does not print its version'
inside vloc upgrade | grep -q 'AUR' || fail 'it does not know that it is from the AUR'
inside gzip -cd /usr/share/man/man1/vloc.1.gz | grep '^\.TH' >/dev/null || fail 'it has no man page'
inside bash -c '. /usr/share/bash-completion/completions/vloc && complete -p vloc' >/dev/null || fail 'bash does not complete it'
for path in zsh/site-functions/_vloc fish/vendor_completions.d/vloc.fish licenses/vloc-bin/LICENSE; do
  [ -s "$root/usr/share/$path" ] || fail "/usr/share/$path is not in the package"
done
in_root -R vloc-bin >"$work/remove.log" 2>&1 || fail "pacman cannot remove it: $(tail -n 5 "$work/remove.log")"
list | diff "$work/before" - || fail 'it left these'
echo 'installed, checked and removed'

# Arch has no PocketSphinx and no Apertium.
[ -n "$without" ] || exit 0
install_package
inside apt-get update -qq
inside vloc engines install --yes >"$work/engines.log" 2>&1 || fail "the engines were not installed: $(tail -n 5 "$work/engines.log")"
cp "$sample" "$root/root/talk.mp4"
inside sh -c 'cd && vloc localize talk.mp4 --to es'
check_video "$root/root/talk.es.mp4"
