/** Videos checked before they are sent: content, size, duration. Source: specification, "Limits". */
import { basename, extname } from 'node:path';
import type { Candidate } from './candidate.ts';
import type { CheckedInput } from './checked-input.ts';
import { CONTAINERS, readVideoType } from './content.ts';
import { CONVERTIBLE, isConvertible } from './convertible.ts';
import type { PlanIo } from './plan-io.ts';
import { statReadable } from './readable-file.ts';

/** What a video is sent as once it has been converted. */
const CONVERTED_TYPE = 'video/mp4';

/** Taken by its content: a name may lie. */
export async function checkVideo(
  { path, label, name }: Candidate & { readonly path: string },
  io: Pick<PlanIo, 'examineVideo'>,
): Promise<CheckedInput> {
  const found = await statReadable(path);
  if (typeof found === 'string') return { type: 'other', detail: found };
  if (found.bytes === 0) return { type: 'other', detail: 'the file is empty; copy it again' };
  const contentType = await readVideoType(path);
  if (contentType === null && !(await isConvertible(path)))
    return { type: 'other', detail: describeOther(path) };
  const examined = await io.examineVideo(path, { bytes: found.bytes, isTaken: contentType !== null });
  if (examined.type !== 'usable') return examined;
  const { seconds, preparation } = examined;
  const named = { label, stem: basename(path, extname(path)), name };
  const sent = { contentType: contentType ?? CONVERTED_TYPE, seconds, preparation };
  return { type: 'usable', input: { type: 'file', ...named, path, ...found, ...sent } };
}

function describeOther(path: string): string {
  if (extname(path).toLowerCase() === '.srt')
    return 'these are subtitles; use `vloc translate` or `vloc dub`';
  return `not a supported video; accepted: ${CONTAINERS}; with --convert also ${CONVERTIBLE}`;
}
