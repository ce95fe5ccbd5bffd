/** A word about the files of a folder that are no inputs. */
import { extname } from 'node:path';
import type { JobKind } from '../../protocol/kind-names.ts';
import { KINDS } from '../../protocol/kinds.ts';
import { VIDEO_EXTENSIONS } from '../../protocol/limits.ts';
import type { Candidate } from './candidate.ts';

/** As many as fit on a line; the count says how many more there are. */
const MOST_NAMES = 3;

const ENDINGS = { video: VIDEO_EXTENSIONS, subtitle: ['.srt', '.vtt', '.ass', '.ssa'] } as const;

/** Sentences for people; files that are called like inputs come first, since somebody may have expected them. */
export function describePassedOver(
  kind: JobKind,
  others: readonly Pick<Candidate, 'label'>[],
  resultCount: number,
): readonly string[] {
  const notes: string[] = [];
  if (others.length > 0) {
    const endings: readonly string[] = ENDINGS[KINDS[kind].input];
    const isCalledLike = ({ label }: { label: string }) => endings.includes(extname(label).toLowerCase());
    const sorted = others.toSorted((left, right) => Number(isCalledLike(right)) - Number(isCalledLike(left)));
    const names = sorted.slice(0, MOST_NAMES).map(({ label }) => label);
    const more = others.length - names.length;
    const what = KINDS[kind].input === 'video' ? 'no videos that the service takes' : 'no subtitles';
    const list = `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
    notes.push(`Passed over, ${what}: ${list}`);
  }
  if (resultCount > 0) {
    const files = resultCount === 1 ? '1 file' : `${resultCount} files`;
    notes.push(`Passed over, results of this command: ${files}`);
  }
  return notes;
}
