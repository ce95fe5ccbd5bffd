/** A job of a page for tests, with what the test is about. */
import type { PageJob } from '../../../src/batch/report/page-jobs.ts';
import { KINDS, type ResultPart } from '../../../src/protocol/kinds.ts';

/** @param given `files` are paths, in the order of the assets of the kind */
export function pageJob(given: Partial<Omit<PageJob, 'files'>> & { files?: readonly string[] }): PageJob {
  const kind = given.kind ?? 'auto_localization';
  const parts: [string, ResultPart][] = Object.entries(KINDS[kind].result);
  const assets = parts.filter(([, part]) => part.type === 'asset').map(([name]) => name);
  const files = (given.files ?? []).map((path, at) => ({
    asset: assets[at] ?? '',
    path,
    bytes: null,
    sha256: null,
  }));
  return {
    owner: { key: '', folder: '' },
    state: 'done',
    job_id: 'loc_01',
    request_ids: [],
    client_reference: null,
    options: {},
    credits: { reserved: 0, charged: 1 },
    created_at: null,
    finished_at: null,
    failure: null,
    waits_for: null,
    engines: [],
    cues: [],
    losses: [],
    input_name: 'talk.mp4',
    input_path: null,
    target_language: null,
    subtitles: [],
    ...given,
    kind,
    files,
  };
}
