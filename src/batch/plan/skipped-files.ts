/** Which files of a folder are inputs by their names, and what is said of those that are not. */
import { extname } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { VIDEO_EXTENSIONS } from '../../protocol/limits.ts';
import type { Candidate } from './candidate.ts';
import { CONVERTIBLE_EXTENSIONS } from './convertible.ts';

/** As many as fit on a line; the count says how many more there are. */
const MOST_NAMES = 3;

const EXTENSIONS = {
  video: {
    all: [...VIDEO_EXTENSIONS, ...CONVERTIBLE_EXTENSIONS],
    one: 'a supported video',
    several: 'supported videos',
  },
  subtitle: { all: ['.srt', '.vtt', '.ass', '.ssa'], one: 'a subtitle file', several: 'subtitle files' },
} as const;

/** Whether a file is called like an input of the kind: one that cannot be used fails then, and is not skipped. */
export function isCalledLikeInput(kind: JobKind, name: string): boolean {
  const endings: readonly string[] = EXTENSIONS[KINDS[kind].input].all;
  return endings.includes(extname(name).toLowerCase());
}

/** Sentences for people. @param others files that are no inputs, by their names too */
export function describeSkipped(
  kind: JobKind,
  others: readonly Pick<Candidate, 'label'>[],
  resultCount: number,
): readonly string[] {
  const notes: string[] = [];
  if (others.length > 0) {
    const names = others.slice(0, MOST_NAMES).map(({ label }) => label);
    const more = others.length > names.length ? ', …' : '';
    const { one, several } = EXTENSIONS[KINDS[kind].input];
    const what =
      others.length === 1 ? `1 file that is not ${one}` : `${others.length} files that are not ${several}`;
    notes.push(`Skipped ${what}: ${names.join(', ')}${more}`);
  }
  if (resultCount > 0) notes.push(`Skipped ${countFiles(resultCount)} that this command wrote before.`);
  return notes;
}

function countFiles(count: number): string {
  return count === 1 ? '1 file' : `${count} files`;
}
