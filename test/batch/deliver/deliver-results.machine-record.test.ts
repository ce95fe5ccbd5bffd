import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findFetched } from '../../../src/batch/deliver/deliver-results.ts';
import type { ResultFile } from '../../../src/batch/deliver/download-results.ts';
import { openJobRecord } from '../../../src/batch/records/job-record.ts';
import { RESULT_FORMATS } from '../../../src/protocol/result-formats.ts';
import { makeFolder } from '../../support/make-folder.ts';

const NOW = Date.parse('2026-11-21T12:00:00Z');

/** A record that knows these jobs, and a file that the first of them has fetched. */
async function makeStage(...ids: readonly string[]) {
  const folder = makeFolder();
  const record = openJobRecord(join(folder, 'state'), 'p', () => NOW);
  for (const id of ids) {
    await record.add({
      id,
      kind: 'subtitle_translation',
      created_at: new Date(NOW).toISOString(),
      client_reference: null,
      command: 'translate',
      inputs: [],
      output_folder: folder,
    });
  }
  const path = join(folder, 'talk.es.srt');
  await writeFile(path, 'hello');
  if (ids[0] !== undefined) await record.markDownloaded(ids[0], [path]);
  return { record, path };
}

function result(path: string, facts: Partial<ResultFile['asset']> = {}): ResultFile {
  const asset = { url: 'x', expires_at: null, content_type: null, size_bytes: null, sha256: null, ...facts };
  return { name: 'subtitle', asset, format: RESULT_FORMATS.srt, path, spare: path };
}

test('a result that was fetched is recognized later, though the service states no hash', async () => {
  const { record, path } = await makeStage('tra_1');
  const files = [{ asset: 'subtitle', path, bytes: null, sha256: null, skipped: true }];
  expect(await findFetched(record, 'tra_1', [result(path)])).toEqual(files);
  expect(await findFetched(record, 'tra_1', [result(path, { size_bytes: 5 })])).toEqual(files);
});

test.each([
  ['is at another path', (path: string) => [result(`${path}x`)]],
  ['is incomplete', (path: string) => [result(path), result(`${path}x`)]],
  ['has another length', (path: string) => [result(path, { size_bytes: 6 })]],
  ['has a hash stated by the service', (path: string) => [result(path, { size_bytes: 5, sha256: 'a' })]],
])('a result that %s is not mistaken for a fetched one', async (_what, results) => {
  const { record, path } = await makeStage('tra_1');
  expect(await findFetched(record, 'tra_1', results(path))).toBeNull();
});

test('a file of this name that another job fetched, or none, is foreign', async () => {
  const { record, path } = await makeStage('tra_1', 'tra_2');
  expect(await findFetched(record, 'tra_2', [result(path)])).toBeNull();
  await record.markDownloaded('tra_2', [path]);
  expect(await findFetched(record, 'tra_1', [result(path)])).toBeNull();
});
