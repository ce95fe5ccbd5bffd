# Included by the scripts in this folder.
set -eu
project=$(cd "$(dirname "$0")/../.." && pwd)
files=$project/release-files
version=$(node -p "require('$project/package.json').version")
sample=$project/test/fixtures/sample.mp4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

skip() {
  echo "Skipped: $1"
  exit 77
}

fail() {
  echo "Failed: $1" >&2
  exit 1
}

# Sets `manifests` to the folder with those of the release. Without a known repository it has none: then they are made with an address
# that does not exist, and not among the files of the release, so that nobody publishes them.
find_manifests() {
  manifests=$files/manifests
  [ ! -d "$manifests" ] || return 0
  manifests=$work/manifests
  (cd "$project" && GITHUB_SERVER_URL=https://git.example.com GITHUB_REPOSITORY=owner/vloc \
    npm run --silent release -- --manifests "$manifests" >/dev/null) || fail 'the manifests were not made'
}

# The result is a whole video with Spanish sound: it has the length of the sample and can be decoded to its end.
check_video() {
  [ -s "$1" ] || fail "$1 was not written"
  seconds=$(ffprobe -v error -show_entries format=duration -of csv=p=0 "$1")
  case $seconds in
  3[01].*) ;;
  *) fail "$1 has $seconds seconds, not those of the sample" ;;
  esac
  ffmpeg -v error -xerror -i "$1" -f null - || fail "$1 cannot be decoded"
  echo "localized: $(basename "$1"), $seconds seconds"
}
