#!/bin/sh
# A checkout on a fresh Debian with Debian's own Node, which is too old, and its own npm: the first command of README.md builds vloc,
# installs the engines and localizes the sample.
. "$(dirname "$0")/tools.sh"
for program in git mmdebstrap unshare chroot ffmpeg; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip 'this needs root'

root=$work/root
mmdebstrap --quiet --variant=apt --include=ca-certificates,npm "${DEBIAN:-bookworm}" "$root"
cp /etc/resolv.conf "$root/etc/resolv.conf"
# The same authorities and packages that this machine trusts, such as those of a proxy.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
echo "registry=$(npm config get registry)" >"$root/root/.npmrc"
echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >>"$root/root/.npmrc"
mkdir "$root/root/vloc"
git -C "$project" archive HEAD | tar -x -C "$root/root/vloc"

# In README.md, the first code block without a language is the command.
command=$(awk '/^```/ { inside = !inside; if (!inside && found) exit; found = inside && $0 == "```"; next } found' "$project/README.md")
inside() {
  unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 "$@"' "$root" "$@"
}
inside sh -c 'echo "Node $(node --version), npm $(npm --version)"'
echo "$command"
inside sh -c "cd /root/vloc && $command" >"$work/log" 2>&1 || fail "it failed: $(tail -n 20 "$work/log")"
check_video "$root/root/vloc/demo/sample.es.mp4"
[ "$(inside sh -c 'cd /root/vloc && npx vloc --version' 2>/dev/null)" = "$version" ] || fail 'it does not print its version'
if [ -d "$project/.git" ]; then
  git -C "$project" show HEAD:package-lock.json | cmp - "$root/root/vloc/package-lock.json" || fail 'npm changed the lock file'
fi
