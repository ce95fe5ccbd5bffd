/** What a create request works on: checked, measured, and described for the record. */
import type { Media } from '../../protocol/media.ts';
import type { JobRequest, Source, SubtitleInput } from '../../protocol/requests.ts';
import type { UploadPurpose } from '../../protocol/states.ts';
import type { Call } from '../call.ts';
import type { Context } from '../context.ts';
import { Refusal } from '../http/refusal.ts';
import { LARGEST_SIZE, type SourceAddress, sourceAddress } from '../outgoing/source-material.ts';
import { checkUrl } from '../outgoing/url-policy.ts';
import { findOwnUpload, type SubtitleFacts, type UploadRow } from '../uploads/rows.ts';
import { countCharacters, type Size } from './metering.ts';

export interface Input {
  readonly size: Size;
  /** The upload that holds the bytes, or null. */
  readonly uploadId: string | null;
}

/**
 * Measures the input of a request; of an address, which is fetched when the job runs, the most that it can come to.
 * @throws Refusal INPUT_NOT_USABLE when it is an address that is not public https, or an upload that is not ready or not of the right purpose
 */
export function resolveInput(context: Context, call: Call, request: JobRequest): Input {
  const address = sourceAddress(request);
  if (address !== null) return awaitedInput(context, address);
  if ('source' in request) {
    const row = requireUpload(context, call, request.source, 'source_video');
    const media: Media = JSON.parse(row.media ?? '');
    return { size: { seconds: media.duration_seconds, lines: 0, characters: 0 }, uploadId: row.id };
  }
  if (request.subtitle.type === 'lines') {
    const { lines } = request.subtitle;
    return { size: { seconds: 0, lines: lines.length, characters: countCharacters(lines) }, uploadId: null };
  }
  const row = requireUpload(context, call, request.subtitle, 'subtitle_file');
  const facts: SubtitleFacts = JSON.parse(row.subtitle ?? '');
  return { size: { seconds: 0, lines: facts.lines, characters: facts.characters }, uploadId: row.id };
}

function awaitedInput({ config }: Context, { url, purpose }: SourceAddress): Input {
  const target = checkUrl(url, config);
  if (target.ok) return { size: LARGEST_SIZE[purpose], uploadId: null };
  throw unusable(
    `the address ${target.reason}; or upload the file with POST /uploads and name its upload_id`,
  );
}

function requireUpload(context: Context, call: Call, source: Source, purpose: UploadPurpose): UploadRow {
  if (source.type === 'url') throw new Error('an address has no upload');
  const row = findOwnUpload(context, call.key.id, source.upload_id, call.now);
  if (row === undefined) throw unusable(`there is no upload ${source.upload_id.slice(0, 64)}`);
  if (row.purpose !== purpose) throw unusable(`the upload is a ${row.purpose}, needed is a ${purpose}`);
  if (row.status !== 'ready') throw unusable(`the upload is ${row.status}, not ready`);
  return row;
}

function unusable(detail: string): Refusal {
  return new Refusal('INPUT_NOT_USABLE', detail);
}

/**
 * What was asked, as a job shows it: without the texts of structured lines, which may be many, without the query of an
 * address, which may be a permission, and without the callback address for the same reason.
 */
export function describeRequest(request: JobRequest): Record<string, unknown> {
  const { client_reference: _reference, callback_url: _callback, ...asked } = request;
  if ('source' in asked) return { ...asked, source: describeSource(asked.source) };
  return { ...asked, subtitle: describeSource(asked.subtitle) };
}

function describeSource(source: SubtitleInput): Record<string, unknown> {
  switch (source.type) {
    case 'upload':
      return { type: 'upload', upload_id: source.upload_id };
    case 'url': {
      const { origin, pathname } = new URL(source.url);
      return { type: 'url', url: origin + pathname };
    }
    case 'lines':
      return { type: 'lines', line_count: source.lines.length };
  }
}
