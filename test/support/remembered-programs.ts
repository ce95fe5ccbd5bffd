/**
 * Answers and results of programs that are remembered for one run of the suite. They depend on the arguments and on the
 * bytes of the inputs alone, and starting ffprobe or ffmpeg costs a tenth of a second of processor time. Tests ask the same
 * about the same bytes thousands of times. Recognizing a sentence costs five seconds.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import { DETECT_ONLY, WORKER_FILES } from '../../src/engines/separate/worker-process.ts';
import { AUDIO_FILES } from '../../src/media/audio/decode-audio.ts';
import { locateProgram } from '../../src/media/programs/programs.ts';

/** Larger results are not kept: few tests make them, and none makes them twice. */
const MOST_KILOBYTES = 16_384;

/** Results of our own programs depend on their code. */
const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

/** Ends a script as the program ended. */
const FAIL = `[ $status -gt 128 ] && kill -$((status - 128)) $$
exit $status`;

/**
 * A program of the same name in front of the real one. What it writes is kept if it ends without an error and without a warning, by all
 * arguments, the endings of the names and the bytes of all inputs: to stdout, to the files that our code names with `file:`, and to those
 * that its filters write into the work folder. Progress is written in one piece when it has ended. Everything else is left to the real
 * program: other files in the arguments and in filters.
 */
const media = (real: string, folder: string, guard: string) => `#!/bin/sh
real='${real}'
for word do last=$word; done
role() {
  file=\${word#file:}
  ending=\${file##*/}
  case $ending in
  *.*) ending=\${ending##*.} ;;
  *) ending= ;;
  esac
  case $before:$word in
  -f:*) role=option format=$word ;;
  -i:*)
    case $format:$ending in
    lavfi:*) role=option ;;
    concat:ffconcat) role=list ;;
    concat:*) role=other ;;
    *) role=input ;;
    esac
    format=
    ;;
  *:"$last") [ "\${real##*/}" = ffprobe ] && role=input || role=result ;;
  *:file:/*) role=result ;;
  *) role=option ;;
  esac
  case $role:$word in
  result:-*) role=option ;;
  esac
  before=$word
}
bytes() {
  cat "$1" || echo "none of $$"
}
before= format= told=
for word do
  role
  case $role:$word in
  input:* | list:*) [ -f "$file" ] || exec "$real" "$@" ;;
  result:file:/*) ;;
  other:* | result:* | */* | *filename=*) exec "$real" "$@" ;;
  *:file=*) told="$told $(echo "$word" | tr ':' '\\n' | sed -n 's/^file=\\([a-z][a-z.]*\\).*/\\1/p')" ;;
  esac
done
key=$(
  {
    echo "$real"
    before= format=
    for word do
      role
      case $role in
      option) printf '%s\\n' "$word" ;;
      *) echo "$role $ending" ;;
      esac
    done
    before= format=
    for word do
      role
      case $role in
      input) bytes "$file" ;;
      list)
        bytes "$file"
        sed -n "s/^file '\\(.*\\)'\\$/\\1/p" "$file" | while read -r name; do bytes "\${file%/*}/$name"; done
        ;;
      esac
    done
  } | sha256sum
)
kept='${folder}'/\${key%% *}
if [ -f "$kept" ]; then
  number=0 before= format=
  for word do
    role
    [ $role = result ] || continue
    number=$((number + 1))
    cp "$kept.$number" "$file" || exit 1
  done
  for name in $told; do
    cp "$kept.$name" "$name" || exit 1
  done
  [ -s "$kept" ] || exit 0
  exec cat "$kept"
fi
part=$kept.$$
${guard} "$real" "$@" >"$part" 2>"$part.errors"
status=$?
if [ $status = 0 ] && [ ! -s "$part.errors" ]; then
  number=0 before= format=
  for word do
    role
    [ $role = result ] || continue
    number=$((number + 1))
    [ -z "$(find "$file" -size +${MOST_KILOBYTES}k)" ] && cp "$file" "$part.$number" && mv "$part.$number" "$kept.$number" || kept=$part.large
  done
  for name in $told; do
    cp "$name" "$part.$name" && mv "$part.$name" "$kept.$name" || kept=$part.large
  done
  mv "$part" "$kept"
  rm "$part.errors"
  exec cat "$kept"
fi
cat "$part"
cat "$part.errors" >&2
rm "$part" "$part.errors"
${FAIL}
`;

/** The same for recognition. Its words and its log are kept by all arguments but the places of files, and by the sound or its cepstra. */
const recognition = (real: string, folder: string, guard: string) => `#!/bin/sh
real='${real}'
words=$real
parameters=/dev/null
before=
for word do
  case $before in
  -ctl) list=$word ;;
  -cepext) ending=$word ;;
  -featparams) parameters=$word ;;
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
    cat "$parameters" || echo "none of $$"
    while read -r name; do
      echo "$name$ending"
      cat "$sounds/$name$ending" || echo "none of $$"
    done <"$list"
  } | sha256sum
)
kept='${folder}'/\${key%% *}
if [ ! -f "$kept" ]; then
  ${guard} "$real" "$@" 2>"$kept.$$"
  status=$?
  if [ $status != 0 ] || ! cp "$result" "$kept.part.$$"; then
    cat "$kept.$$" >&2
    ${FAIL}
  fi
  mv "$kept.$$" "$kept.log"
  mv "$kept.part.$$" "$kept"
fi
cat "$kept.log" >&2
exec cp "$kept" "$result"
`;

/** The same for translation: the text is the last argument, a file. `-l` lists the languages. */
const translation = (real: string, folder: string, guard: string) => `#!/bin/sh
real='${real}'
options=
for word do
  options="$options$last "
  last=$word
done
[ -f "$last" ] || [ "$*" = -l ] || exec "$real" "$@"
key=$({ echo "$real $options"; [ "$*" = -l ] || cat "$last" || echo "none of $$"; } | sha256sum)
kept='${folder}'/\${key%% *}
if [ ! -f "$kept" ]; then
  ${guard} "$real" "$@" >"$kept.$$" 2>"$kept.$$.errors"
  status=$?
  if [ $status != 0 ] || [ -s "$kept.$$.errors" ]; then
    cat "$kept.$$"
    cat "$kept.$$.errors" >&2
    ${FAIL}
  fi
  mv "$kept.$$" "$kept"
fi
exec cat "$kept"
`;

/** Results of the separation worker. */
const STEMS = [WORKER_FILES.vocals, WORKER_FILES.background, WORKER_FILES.voice];

/**
 * The same for our own separation worker, which \`nice\` starts: \`nice -n 5 node worker.ts FOLDER FLAGS\`. Its stems and messages
 * are kept by the flags, its code and the sound. All other programs are started as they are. Our workers get the compile cache
 * here, because vloc passes them no variables: without it, each compiles its sources again.
 */
const separation = (real: string, folder: string, guard: string) => `#!/bin/sh
export NODE_COMPILE_CACHE='${process.env.NODE_COMPILE_CACHE ?? ''}'
case $4 in
*/separate/worker.ts) ;;
*) exec '${real}' "$@" ;;
esac
work=$5
cd "$work" || exit 1
case " $* " in
*' ${DETECT_ONLY} '*)
  sounds='${WORKER_FILES.speech}' stems=
  ;;
*)
  sounds='${Object.values(AUDIO_FILES).join(' ')}' stems='${STEMS.join(' ')}'
  ;;
esac
key=$(
  {
    shift 5
    echo "$@"
    cat '${SOURCES}'/engines/separate/*.ts '${SOURCES}'/media/*/*.ts
    for name in $sounds; do
      echo "$name"
      [ ! -f "$name" ] || cat "$name" || echo "none of $$"
    done
  } | sha256sum
)
kept='${folder}'/\${key%% *}
if [ -f "$kept" ]; then
  for name in $stems; do
    [ ! -f "$kept.$name" ] || cp "$kept.$name" "$name" || exit 1
  done
  exec cat "$kept"
fi
rm -f $stems
${guard} '${real}' "$@" >"$kept.$$"
status=$?
cat "$kept.$$"
if [ $status = 0 ]; then
  for name in $stems; do
    [ ! -f "$name" ] || { cp "$name" "$kept.$name.$$" && mv "$kept.$name.$$" "$kept.$name"; } || exit 1
  done
  mv "$kept.$$" "$kept"
  exit 0
fi
${FAIL}
`;

const SCRIPTS = {
  ffprobe: media,
  ffmpeg: media,
  pocketsphinx_batch: recognition,
  apertium: translation,
  nice: separation,
};

let path: string | undefined;

/** Words before a program that end it with its script. Otherwise it would still write when a killed vloc is run again. */
function endWithScript(searchPath: string): string {
  const setpriv = locateProgram('setpriv', searchPath);
  if (setpriv === null) return '';
  const options = ['--pdeathsig', 'KILL'];
  // Not every one has the option.
  const { status } = spawnSync(setpriv, [...options, 'true'], { stdio: 'ignore' });
  return status === 0 ? [setpriv, ...options].join(' ') : '';
}

/** A value for PATH with these programs in front of the real ones. Not for tests of how a program is run. */
export function rememberingPath(): string {
  path ??= createPath(process.env.PATH ?? '');
  return path;
}

function createPath(searchPath: string): string {
  const folder = join(inject('runFolder'), 'remembered');
  mkdirSync(join(folder, 'answers'), { recursive: true });
  const guard = endWithScript(searchPath);
  for (const [name, script] of Object.entries(SCRIPTS)) {
    const real = locateProgram(name, searchPath);
    const own = join(folder, name);
    if (real === null || existsSync(own)) continue;
    // Another process may do the same, or may be about to start it.
    const made = `${own}.${process.pid}`;
    writeFileSync(made, script(real, join(folder, 'answers'), guard));
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

/** Runs ffmpeg to make media for a test. The last argument is the file to write. */
export function makeMedia(...args: string[]): void {
  const [to = ''] = args.splice(-1);
  askProgram('ffmpeg', ['-nostdin', '-v', 'error', '-y', ...args, isAbsolute(to) ? `file:${to}` : to]);
}
