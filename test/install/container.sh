#!/bin/sh
# The container image, built with buildah: localizes a video and serves, as a user without rights on a read-only root. The base that the
# Containerfile names is in a registry; here it is made from Debian's packages and the Node of this checkout.
. "$(dirname "$0")/tools.sh"
for program in buildah mmdebstrap unshare setpriv ffprobe; do
  command -v "$program" >/dev/null || skip "$program is not installed"
done
[ "$(id -u)" -eq 0 ] || skip 'this needs root'

# Its own storage, so that nothing of this machine is changed.
export STORAGE_DRIVER=vfs
containers() {
  buildah --root "$work/images" --runroot "$work/run" "$@"
}
trap 'containers rm --all >/dev/null 2>&1; rm -rf "$work"' EXIT

base=$work/base
mmdebstrap --quiet --variant=apt --include=ca-certificates "${DEBIAN:-bookworm}" "$base"
cp /etc/resolv.conf "$base/etc/resolv.conf"
cp "$project/node_modules/node/bin/node" "$base/usr/local/bin/node"
mkdir -p "$base/usr/local/lib/node_modules" "$base/usr/local/etc"
cp -R "$(npm root --global)/npm" "$base/usr/local/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$base/usr/local/bin/npm"
# Packages come from where this machine gets them.
echo "registry=$(npm config get registry)" >"$base/usr/local/etc/npmrc"
# The same authorities that this machine trusts, such as that of a proxy.
cp /etc/ssl/certs/ca-certificates.crt "$base/etc/ssl/certs/ca-certificates.crt"
echo 'cafile=/etc/ssl/certs/ca-certificates.crt' >>"$base/usr/local/etc/npmrc"

context=$work/context
mkdir "$context"
cp "$files/vloc-$version.tgz" "$project/Containerfile" "$context/"
from=$(containers from scratch)
containers add --quiet "$from" "$base" / >/dev/null
containers commit --quiet "$from" localhost/node >/dev/null
containers rm "$from" >/dev/null
for target in service worker; do
  containers build --quiet --isolation chroot --network host --target "$target" --build-arg BASE=localhost/node \
    --build-arg "PACKAGE=./vloc-$version.tgz" --tag "localhost/vloc-$target" "$context" >"$work/build.log" 2>&1 ||
    fail "the image $target was not built: $(tail -n 5 "$work/build.log")"
done
setting() {
  containers inspect --type image --format "$1" "localhost/vloc-$2"
}
[ "$(setting '{{.OCIv1.Config.User}}' service)" = 10001:10001 ] || fail 'the image runs as root'
[ "$(setting '{{.OCIv1.Config.StopSignal}}' service)" = SIGTERM ] || fail 'the image does not stop by SIGTERM'
setting '{{.OCIv1.Config.Cmd}}' worker | grep -q -- '--role worker' || fail 'the other image is no worker'
echo 'built: service and worker'

# As a container runs: its user, no rights, processes of its own, a root that cannot be written, and a volume.
root=$(containers mount "$(containers from localhost/vloc-service)")
volume=$work/volume
install --directory --mode 0700 --owner 10001 --group 10001 "$volume"
install --owner 10001 "$sample" "$volume/talk.mp4"
inside() {
  unshare --mount --pid --fork --kill-child sh -c '
    root=$0 volume=$1
    shift
    mount --bind "$root" "$root"
    mount --bind "$volume" "$root/var/lib/vloc"
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    mount -o remount,bind,ro "$root"
    exec setpriv --no-new-privs chroot --userspec=10001:10001 --groups= "$root" env -i PATH=/usr/local/bin:/usr/bin:/bin \
      HOME=/var/lib/vloc VLOC_STATE_DIR=/var/lib/vloc/state VLOC_CONFIG_DIR=/var/lib/vloc/config TMPDIR=/var/lib/vloc "$@"' \
    "$root" "$volume" "$@"
}
inside vloc --version | grep -qx "$version" || fail 'it does not print its version'
if inside touch /usr/local/bin/changed 2>/dev/null; then fail 'the root can be written'; fi
inside sh -c 'cd /var/lib/vloc && vloc localize talk.mp4 --to es'
check_video "$volume/talk.es.mp4"

inside vloc serve --port 8080 --host 127.0.0.1 --output plain >"$work/address" 2>"$work/log" &
service=$!
tries=0
until inside node -e "fetch('http://127.0.0.1:8080/livez').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"; do
  tries=$((tries + 1))
  [ $tries -lt 60 ] || fail "it is not healthy: $(tail -n 3 "$work/log")"
  sleep 1
done
# The first process of the container gets the signal.
pkill -TERM -P "$(pgrep -P $service)" 2>/dev/null || kill -TERM "$(pgrep -P $service)"
wait $service || fail "it did not end in order: $(tail -n 3 "$work/log")"
echo 'healthy, and stopped in order'
