/** Videos checked before they are sent: content, size, duration. Source: specification, "Limits". */
import { basename, extname } from 'node:path';
import { describeDuration } from '../../client/duration.ts';
import { LIMITS } from '../../protocol/limits.ts';
import { formatBytes } from '../bytes.ts';
import type { Candidate } from './candidate.ts';
import type { CheckedInput } from './checked-input.ts';
import { CONTAINERS, readVideoType } from './content.ts';
import type { PlanIo } from './plan-io.ts';
import { statReadable } from './readable-file.ts';

/** Taken by its content: a name may lie. */
export async function checkVideo(
  { path, label, name }: Candidate & { readonly path: string },
  io: Pick<PlanIo, 'probeDuration'>,
): Promise<CheckedInput> {
  const found = await statReadable(path);
  if (typeof found === 'string') return { type: 'problem', detail: found };
  if (found.bytes === 0) return { type: 'other', detail: 'the file is empty' };
  const contentType = await readVideoType(path);
  if (contentType === null) return { type: 'other', detail: describeOther(path) };
  if (found.bytes >= LIMITS.videoBytes) {
    const size = formatBytes(found.bytes);
    return problem(`${size} is over the limit; a video is under 1 GiB: make it smaller or cut it`);
  }
  const seconds = await io.probeDuration(path);
  if (seconds !== null && seconds > LIMITS.videoSeconds) {
    const length = describeDuration(seconds * 1000);
    return problem(
      `it lasts ${length}, over the limit of ${describeDuration(LIMITS.videoSeconds * 1000)}; ${CUT}`,
    );
  }
  const stem = basename(path, extname(path));
  return { type: 'usable', input: { type: 'file', label, stem, name, path, ...found, contentType, seconds } };
}

/** Cut where pictures stand alone, parts come out somewhat longer than asked for: 14 minutes leave room. */
const CUT =
  'cut it, for example `ffmpeg -i IN -c copy -f segment -segment_time 840 -reset_timestamps 1 PART%03d.mp4`';

function problem(detail: string): CheckedInput {
  return { type: 'problem', detail };
}

function describeOther(path: string): string {
  if (extname(path).toLowerCase() === '.srt')
    return 'these are subtitles; `vloc translate` and `vloc dub` work on them';
  return `it is no video of the containers that the service takes (${CONTAINERS}); \`ffmpeg -i IN -c copy OUT.mp4\` often converts without loss`;
}
