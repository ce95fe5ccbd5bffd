import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { compareCatalog } from '../../release/model-catalog.ts';
import { type Hub, startHub } from '../support/hub-server.ts';
import { makeFolder } from '../support/make-folder.ts';
import { writeTinyCatalog } from '../support/tiny-catalog.ts';

let folder = '';
let hub: Hub;
beforeEach(async () => {
  folder = makeFolder();
  hub = await startHub(folder);
  onTestFinished(() => hub.close());
});

describe('the check of the catalogue', () => {
  const env = () => ({ HF_ENDPOINT: hub.url, HF_TOKEN: 'hf_secret' });

  it('finds nothing where all files are as it says', async () => {
    expect(await compareCatalog(writeTinyCatalog(folder), env())).toEqual([]);
    // Only the files without a stated hash are downloaded.
    const got = hub.log.filter(({ isForBytes }) => isForBytes).map(({ path }) => path);
    expect(got).toContain('/tiny-ears/tokens.txt');
  });

  it('sends the token to no other origin', async () => {
    await compareCatalog(writeTinyCatalog(folder), env());
    expect(hub.log.some(({ authorization }) => authorization === 'Bearer hf_secret')).toBe(true);
    expect(hub.log.filter(({ isForBytes, authorization }) => isForBytes && authorization !== null)).toEqual(
      [],
    );
  });

  it('names each file that is missing or differs', async () => {
    const catalog = writeTinyCatalog(folder);
    for (const path of ['tiny-ears/model.onnx', 'tiny-ears/tokens.txt'])
      writeFileSync(join(folder, path), 'other');
    const [model] = catalog.models[0]?.files ?? [];
    const gone = { ...model, path: 'gone.onnx', url: model?.url.replace('model.onnx', 'gone.onnx') ?? '' };
    const changed = { models: [{ id: 'tiny-ears', files: [...(catalog.models[0]?.files ?? []), gone] }] };
    const lines = await compareCatalog(changed as Parameters<typeof compareCatalog>[0], env());
    expect(lines).toEqual([
      expect.stringMatching(/^tiny-ears\/model\.onnx: \d+ bytes in the catalogue, 5 there$/),
      expect.stringMatching(
        /^tiny-ears\/model\.onnx: SHA-256 [0-9a-f]{64} in the catalogue, [0-9a-f]{64} there$/,
      ),
      expect.stringContaining('tiny-ears/tokens.txt: '),
      expect.stringContaining('tiny-ears/tokens.txt: SHA-256 '),
      expect.stringContaining('tiny-ears/gone.onnx: not there: https://huggingface.co/'),
    ]);
  });

  it('writes what is there when it is asked to', async () => {
    const catalog = writeTinyCatalog(folder);
    const expected = structuredClone(catalog);
    for (const file of catalog.models.flatMap(({ files }) => files))
      Object.assign(file, { bytes: 1, sha256: '' });
    expect(await compareCatalog(catalog, env(), true)).not.toEqual([]);
    expect(catalog).toEqual(expected);
  });
});
