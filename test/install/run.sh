#!/bin/sh
# Tries the ways to install vloc from nothing. Each script here is one way; it ends with 77 where its tools are missing.
# The files come from `npm run release -- --dry-run`, which is run first if there are none of this commit.
#
#   npm run test:install [NAME...]   for example: npm run test:install npm standalone
set -u
cd "$(dirname "$0")/../.." || exit 1

passed=0
failed=0
skipped=0

version=$(node -p 'require("./package.json").version')
stamp=release-files/.commit
commit=$(git rev-parse HEAD 2>/dev/null || echo none)
# In CI, the files are those that are about to be published.
if [ ! -e "release-files/vloc-$version.tgz" ] || { [ -z "${CI:-}" ] && [ "$(cat $stamp 2>/dev/null)" != "$commit" ]; }; then
  npm run --silent release -- --dry-run linux-x64 windows-x64 || exit 1
  echo "$commit" >$stamp
fi

[ $# -gt 0 ] || set -- $(ls test/install/*.sh | sed 's/.*\/\(.*\)\.sh/\1/' | grep -v '^run$\|^tools$')
for name; do
  printf '\n== %s\n' "$name"
  sh "test/install/$name.sh" </dev/null
  case $? in
  0) passed=$((passed + 1)) ;;
  77) skipped=$((skipped + 1)) ;;
  *)
    failed=$((failed + 1))
    echo "== $name failed"
    ;;
  esac
done

printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ]
