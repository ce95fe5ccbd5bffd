/** The form of a recording: what each command printed and how it ended, in a text file that can be read in a diff. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as v from 'valibot';
import type { Ended } from '../commands/support/run-vloc.ts';

/** What every case printed, by its name, in the order of the table. */
export type Recording = ReadonlyMap<string, string>;

/** A change of wording since the recording was made. */
export interface Rewording {
  readonly before: string;
  readonly after: string;
}

const FOLDER = import.meta.dirname;
const TITLE = '=== ';

const Wording = v.array(v.strictObject({ before: v.pipe(v.string(), v.minLength(1)), after: v.string() }));

/** The changes of wording that are listed; a list with the same text twice is an error. */
export function readWording(): Rewording[] {
  const wording = v.parse(Wording, JSON.parse(readFileSync(join(FOLDER, 'wording.json'), 'utf8')));
  const twice = wording.filter(({ before }, index) =>
    wording.slice(0, index).some((pair) => pair.before === before),
  );
  if (twice.length > 0) throw new Error(`wording.json lists twice: ${JSON.stringify(twice[0]?.before)}`);
  return wording;
}

/** One case as text: exit code and both streams. Control characters are shown as escapes. */
export function describeEnd({ code, stdout, stderr }: Ended): string {
  return [`exit ${code}\n`, describeStream('stdout', stdout), describeStream('stderr', stderr)].join('');
}

function describeStream(name: string, text: string): string {
  if (text === '') return '';
  const shown = text.replace(/[^\P{Cc}\n]/gu, (character) => JSON.stringify(character).slice(1, -1));
  return `--- ${name}\n${shown}${shown.endsWith('\n') ? '' : '\n(no line break at the end)\n'}`;
}

/**
 * Applies the changes of wording to a recorded text. All are looked for in the text as it was recorded, the longest first, so
 * that none changes what another has written.
 */
export function applyWording(text: string, wording: readonly Rewording[]): string {
  const [first, ...others] = [...wording].sort((left, right) => right.before.length - left.before.length);
  if (first === undefined) return text;
  const between = text.split(first.before);
  return between.map((part) => applyWording(part, others)).join(first.after);
}

/** The recording of a group; empty before the first one. */
export function readRecording(group: string): Recording {
  const path = pathOf(group);
  if (!existsSync(path)) return new Map();
  const sections = readFileSync(path, 'utf8').split(/^=== /m).slice(1);
  return new Map(
    sections.map((section) => {
      const end = section.indexOf('\n');
      return [section.slice(0, end), section.slice(end + 1).replace(/\n$/, '')];
    }),
  );
}

export function writeRecording(group: string, recording: Recording): void {
  const sections = [...recording].map(([name, text]) => {
    if (text.split('\n').some((line) => line.startsWith(TITLE))) {
      throw new Error(`"${name}" prints a line that begins like a title`);
    }
    return `${TITLE}${name}\n${text}\n`;
  });
  writeFileSync(pathOf(group), sections.join(''));
}

function pathOf(group: string): string {
  return join(FOLDER, `${group}.txt`);
}
