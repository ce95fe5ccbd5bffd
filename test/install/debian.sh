#!/bin/sh
# A fresh Debian without Node, made with mmdebstrap: the archive installs its engines and localizes a video; then the Debian package
# is installed, used and removed without a trace.
. "$(dirname "$0")/tools.sh"
for program in mmdebstrap unshare chroot ffmpeg; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip 'this needs root'
[ "$(dpkg --print-architecture)" = amd64 ] || skip 'this machine is not amd64'

root=$work/root
mmdebstrap --quiet --variant=apt --include=ca-certificates "${DEBIAN:-bookworm}" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# Runs a command in it, with its own processes; nothing of this machine's variables but proxies.
inside() {
  unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"' "$root" "$@"
}
! inside sh -c 'command -v node || command -v npm' || fail 'there is a Node in the root'

echo '-- the archive'
tar -xzf "$files/vloc-$version-linux-x64.tar.gz" -C "$root/opt"
vloc=/opt/vloc-$version-linux-x64/vloc
[ "$(inside $vloc --version)" = "$version" ] || fail 'it does not print its version'
inside apt-get update -qq
inside $vloc engines install --yes >"$work/engines.log" 2>&1 || fail "the engines were not installed: $(tail -n 5 "$work/engines.log")"
cp "$sample" "$root/root/talk.mp4"
inside sh -c "cd && $vloc localize talk.mp4 --to es"
check_video "$root/root/talk.es.mp4"
inside $vloc upgrade | grep -q 'archive' || fail 'it does not know that it is an archive'
rm -r "$root/opt/vloc-$version-linux-x64" "$root/root/talk.es.mp4"

echo '-- the Debian package'
deb=vloc_$(echo "$version" | tr - '~')_amd64.deb
cp "$files/$deb" "$root/root/"
inside apt-get install -y -qq "/root/$deb" >"$work/install.log" 2>&1 || fail "apt-get cannot install it: $(tail -n 5 "$work/install.log")"
[ "$(inside vloc --version)" = "$version" ] || fail 'it does not print its version'
for path in /usr/share/man/man1/vloc.1.gz /usr/share/bash-completion/completions/vloc /usr/share/doc/vloc/copyright; do
  [ -s "$root$path" ] || inside dpkg -L vloc | grep -qx "$path" || fail "$path is not in the package"
done
inside sh -c 'cd && vloc localize talk.mp4 --to ca'
check_video "$root/root/talk.ca.mp4"
inside vloc upgrade | grep -q 'apt' || fail 'it does not know that apt installed it'
inside apt-get purge -y -qq vloc >/dev/null 2>&1
left=$(cd "$root" && find usr etc var opt -name '*vloc*' ! -path 'var/lib/dpkg/*' ! -path 'var/cache/*' ! -path 'var/log/*')
[ -z "$left" ] || fail "it left $left"
echo 'installed, used and removed'
