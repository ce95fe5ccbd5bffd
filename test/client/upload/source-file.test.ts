import { appendFileSync, truncateSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SendFileOptions, UploadProgress } from '../../../src/client/index.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { failureOf } from '../support/harness.ts';
import { MIB, makeFile, startUploads, VIDEO } from '../support/start-uploads.ts';

describe('a file that cannot be sent', () => {
  test.each([
    ['FILE_NOT_FOUND', (folder: string) => join(folder, 'missing.mp4')],
    ['NOT_A_FILE', (folder: string) => folder],
    ['FILE_EMPTY', (folder: string) => join(folder, 'empty.mp4')],
  ])('is %s before anything is sent', async (code, pathIn) => {
    const { client, server } = await startUploads();
    const folder = makeFolder();
    await writeFile(join(folder, 'empty.mp4'), '');
    const { facts } = await failureOf(client.uploads.sendFile(pathIn(folder), VIDEO));
    expect(facts).toMatchObject({ category: 'usage', code });
    expect(server.seen).toHaveLength(0);
  });

  test('is over the limit of its purpose', async () => {
    const { client } = await startUploads();
    const { path } = await makeFile(1);
    truncateSync(path, 10 * MIB);
    const options: SendFileOptions = { purpose: 'subtitle_file', contentType: 'application/x-subrip' };
    expect((await failureOf(client.uploads.sendFile(path, options))).facts.code).toBe('FILE_TOO_LARGE');
  });

  test.each([
    ['grows', (path: string) => appendFileSync(path, 'more')],
    ['shrinks', (path: string) => truncateSync(path, 2 * MIB)],
  ])('because it %s meanwhile is never completed', async (_how, change) => {
    const { client, service } = await startUploads();
    const { path } = await makeFile(12 * MIB);
    let changed = false;
    const onProgress = ({ bytes }: UploadProgress) => {
      if (bytes > 0 && !changed) change(path);
      changed ||= bytes > 0;
    };
    const { facts } = await failureOf(client.uploads.sendFile(path, { ...VIDEO, onProgress }));
    expect(facts).toMatchObject({ category: 'usage', code: 'FILE_CHANGED' });
    expect(service.completions).toHaveLength(0);
    expect(service.reservations).toHaveLength(1);
    expect(service.stored.size).toBe(0);
  });
});
