/** Creates inputs from candidates, with the checks that need no service. */
import { basename, extname } from 'node:path';
import { isLoopback } from '../../protocol/loopback.ts';
import type { PlanIo } from './batch-plan.ts';
import type { Candidate } from './candidate.ts';
import { checkStdin, checkSubtitle } from './check-subtitle.ts';
import { CONTAINERS, CONVERTIBLE, isConvertible, readVideoType } from './content.ts';
import { statReadable } from './file-status.ts';
import type { CheckedInput, JobInput } from './input.ts';
import { addressName } from './item-key.ts';
import { isAddress, isHttps, ONLY_HTTPS, stemOfJob, uploadIdOf } from './operand.ts';

/** Checks one candidate of a command for videos or subtitles; reports its problems and never throws for them. */
export async function checkInput(
  candidate: Candidate,
  takes: 'video' | 'subtitle',
  io: PlanIo,
): Promise<CheckedInput> {
  const { path, label, defect } = candidate;
  if (defect !== undefined) return problem(defect);
  if (path !== null) {
    return takes === 'video'
      ? checkVideo({ ...candidate, path }, io)
      : checkSubtitle({ ...candidate, path }, io);
  }
  if (isAddress(label)) return checkAddress(label);
  const upload = uploadIdOf(label);
  if (upload !== null) return usable({ type: 'upload', label, stem: upload, name: upload, id: upload });
  if (label !== '-')
    return usable({ type: 'job', label, stem: stemOfJob(label), name: label, reference: label });
  if (takes === 'subtitle') return checkStdin(io);
  return problem('a video cannot be read from stdin; give a file, an https address or an upload id');
}

function usable(input: JobInput): CheckedInput {
  return { type: 'usable', input };
}

function problem(detail: string): CheckedInput {
  return { type: 'problem', detail };
}

function checkAddress(address: string): CheckedInput {
  const url = URL.parse(address);
  if (url === null) return problem('this is not an address');
  // Only the service knows whether it allows http to its own machine.
  const mayBeOwn = url.protocol === 'http:' && isLoopback(url);
  if (!isHttps(address) && !mayBeOwn) return problem(ONLY_HTTPS);
  if (url.username !== '' || url.password !== '')
    return problem('the address holds a password; the service reads public addresses only');
  const name = addressName(address);
  return usable({ type: 'url', label: name, stem: stemOfAddress(url), name, url: address });
}

function stemOfAddress({ pathname, hostname }: URL): string {
  const last = decoded(pathname.split('/').at(-1) ?? '');
  return basename(last, extname(last)) || hostname;
}

/** Decodes percent-encoded text; returns invalid text unchanged. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Media type of converted videos. */
const CONVERTED_TYPE = 'video/mp4';

/** Recognizes videos by content: names may be wrong. */
async function checkVideo(
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
