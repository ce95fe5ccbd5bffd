/**
 * Answers and results of programs that are remembered for one run of the suite. They depend on the arguments and on the
 * bytes of the inputs alone, and starting ffprobe or ffmpeg costs a tenth of a second of processor time. Tests ask the same
 * about the same bytes thousands of times. Recognizing a sentence costs five seconds.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { inject } from 'vitest';
import { locateProgram } from '../../src/engines/programs.ts';

/** Larger results are not kept: few tests make them, and none makes them twice. */
const MOST_KILOBYTES = 16_384;

/**
 * A program of the same name in front of the real one. What it writes, to stdout and to the files that our code names with
 * `file:`, is kept if it ends without an error and without a warning: by all arguments, the endings of the names and the
 * bytes of all inputs. All else is left to the real program: other files in the arguments and in filters, lists of files, and runs that
 * report their progress, which tests cancel.
 */
const media = (real: string, folder: string) => `#!/bin/sh
real='${real}'
for word do last=$word; done
role() {
  case $before:$word in
  -i:*) role=input ;;
  *:"$last") [ "\${real##*/}" = ffprobe ] && role=input || role=result ;;
  *:file:/*) role=result ;;
  *) role=option ;;
  esac
  [ "$role$word" != result- ] || role=option
  before=$word
  file=\${word#file:}
  ending=\${file##*/}
  case $ending in
  *.*) ending=\${ending##*.} ;;
  *) ending= ;;
  esac
}
before=
for word do
  role
  case $role:$word in
  input:*) [ -f "$file" ] || exec "$real" "$@" ;;
  result:file:/*) ;;
  result:* | */* | *-progress* | *concat* | *filename=* | *:file=*) exec "$real" "$@" ;;
  esac
done
key=$(
  {
    echo "$real"
    before=
    for word do
      role
      case $role in
      option) printf '%s\\n' "$word" ;;
      *) echo "$role $ending" ;;
      esac
    done
    before=
    for word do
      role
      [ $role != input ] || cat "$file" || echo "none of $$"
    done
  } | sha256sum
)
kept='${folder}'/\${key%% *}
if [ -f "$kept" ]; then
  number=0
  before=
  for word do
    role
    [ $role = result ] || continue
    number=$((number + 1))
    cp "$kept.$number" "$file" || exit 1
  done
  exec cat "$kept"
fi
part=$kept.$$
"$real" "$@" >"$part" 2>"$part.errors"
status=$?
if [ $status = 0 ] && [ ! -s "$part.errors" ]; then
  number=0
  before=
  for word do
    role
    [ $role = result ] || continue
    number=$((number + 1))
    [ -z "$(find "$file" -size +${MOST_KILOBYTES}k)" ] && cp "$file" "$part.$number" && mv "$part.$number" "$kept.$number" || kept=$part.large
  done
  mv "$part" "$kept"
  rm "$part.errors"
  exec cat "$kept"
fi
cat "$part"
cat "$part.errors" >&2
rm "$part" "$part.errors"
[ $status -gt 128 ] && kill -$((status - 128)) $$
exit $status
`;

/** The same for recognition. Its words and its log are kept by all arguments but the places of files, and by the sound. */
const recognition = (real: string, folder: string) => `#!/bin/sh
real='${real}'
words=$real
before=
for word do
  case $before in
  -ctl) list=$word ;;
  -cepdir) sounds=$word ;;
  -hypseg) result=$word ;;
  *) words="$words $word" ;;
  esac
  before=$word
done
[ -f "$list" ] && [ -n "$sounds" ] && [ -n "$result" ] || exec "$real" "$@"
key=$(
  {
    echo "$words"
    while read -r name; do
      echo "$name"
      cat "$sounds/$name.wav" || echo "none of $$"
    done <"$list"
  } | sha256sum
)
kept='${folder}'/\${key%% *}
if [ ! -f "$kept" ]; then
  "$real" "$@" 2>"$kept.$$"
  status=$?
  if [ $status != 0 ] || ! cp "$result" "$kept.part.$$"; then
    cat "$kept.$$" >&2
    [ $status -gt 128 ] && kill -$((status - 128)) $$
    exit $status
  fi
  mv "$kept.$$" "$kept.log"
  mv "$kept.part.$$" "$kept"
fi
cat "$kept.log" >&2
exec cp "$kept" "$result"
`;

const SCRIPTS = { ffprobe: media, ffmpeg: media, pocketsphinx_batch: recognition };

let path: string | undefined;

/** A value for PATH with these programs in front of the real ones. Not for tests of how a program is run. */
export function rememberingPath(): string {
  path ??= createPath(process.env.PATH ?? '');
  return path;
}

function createPath(searchPath: string): string {
  const folder = join(inject('runFolder'), 'remembered');
  mkdirSync(join(folder, 'answers'), { recursive: true });
  for (const [name, script] of Object.entries(SCRIPTS)) {
    const real = locateProgram(name, searchPath);
    const own = join(folder, name);
    if (real === null || existsSync(own)) continue;
    // Another process may do the same, or may be about to start it.
    const made = `${own}.${process.pid}`;
    writeFileSync(made, script(real, join(folder, 'answers')));
    chmodSync(made, 0o755);
    renameSync(made, own);
  }
  return [folder, searchPath].join(delimiter);
}

/** Runs ffprobe or ffmpeg and returns what it writes to stdout. */
export function askProgram(name: 'ffprobe' | 'ffmpeg', args: readonly string[]): Buffer {
  // Half an hour of sound in samples, as numbers of 32 bits.
  return execFileSync(name, args, { env: { ...process.env, PATH: rememberingPath() }, maxBuffer: 2 ** 29 });
}
