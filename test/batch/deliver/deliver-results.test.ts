import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import PQueue from 'p-queue';
import { describe, expect, test } from 'vitest';
import { createInputs } from '../../../src/base/find-input.ts';
import { takeTurn } from '../../../src/base/together.ts';
import { deliverResults, rowsOfJob } from '../../../src/batch/deliver/deliver-results.ts';
import type { Delivery } from '../../../src/batch/inputs/delivery.ts';
import type { StoredFile } from '../../../src/batch/records/attempts.ts';
import { Failure, type Job } from '../../../src/client/index.ts';
import { readJob } from '../../../src/client/read/job.ts';
import { failureOf, startHarness } from '../../client/support/harness.ts';
import { answer, json } from '../../client/support/scripted-server.ts';
import { makeFolder } from '../../support/make-folder.ts';

type Options = Parameters<typeof deliverResults>[1];
type Files = Awaited<ReturnType<typeof deliverResults>>;

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const wav = () => Buffer.concat([Buffer.from('RIFF\0\0\0\0WAVE'), randomBytes(2_000)]);

/** A server with the two files of a separation, a folder for them, and a record of what the delivery notes. */
async function startDelivery({ isHashed = true }: { readonly isHashed?: boolean } = {}) {
  const { client, server } = await startHarness();
  const root = makeFolder();
  const folder = join(root, 'out');
  const content = { vocals: wav(), background: wav() };
  const missing = new Set<string>();
  const asset = (name: keyof typeof content) => ({
    url: `${server.origin}/files/${name}.wav`,
    content_type: 'audio/wav',
    ...(isHashed ? { size_bytes: content[name].length, sha256: sha256(content[name]) } : {}),
  });
  const jobWith = (fields: object = {}): Job => {
    const result = { vocal_audio: asset('vocals'), background_audio: asset('background') };
    return readJob('audio_separation', { id: 'sep_1', status: 'succeeded', result, ...fields }, null);
  };
  server.route = (_method, target) => {
    const name = /^\/files\/(vocals|background)\.wav$/.exec(target)?.[1];
    if (name === undefined) return json(200, jobWith());
    if (missing.has(name)) return answer(404, {});
    const bytes = name === 'vocals' ? content.vocals : content.background;
    return answer(200, { 'content-type': 'audio/wav' }, bytes);
  };

  const published: StoredFile[] = [];
  const delivered: Files[] = [];
  const record = {
    find: async (path: string) => rowsOfJob('sep_1', published).filter((row) => row.path === path),
    async add(files: readonly StoredFile[]) {
      for (const { path, sha256: whole } of files)
        if (existsSync(path)) expect(sha256(await readFile(path))).not.toBe(whole);
      published.push(...files);
    },
    async noteDelivered(files: Files) {
      for (const { path } of files) expect(existsSync(path)).toBe(true);
      delivered.push(files);
    },
  };
  const turns = new PQueue({ concurrency: 1 });
  const deliver = (
    job: Job,
    { existing = 'refuse', ...more }: Partial<Options> & Pick<Partial<Delivery>, 'existing'> = {},
  ) =>
    deliverResults(job, {
      ...{ client, record, turns, locksDir: join(root, 'state') },
      naming: { stem: 'talk', asked: null, found: null, delivery: { folder, template: '', existing } },
      addTracks: () => Promise.reject(new Error('no tracks are wanted')),
      findInput: async () => null,
      signal: new AbortController().signal,
      onProgress: () => undefined,
      ...more,
    });
  const paths = { vocals: join(folder, 'talk.vocals.wav'), background: join(folder, 'talk.background.wav') };
  const downloads = () => server.seen.map(({ target }) => target).filter((each) => each.startsWith('/files'));
  return {
    ...{ root, folder, content, missing, paths, published, delivered, record, turns },
    jobWith,
    deliver,
    downloads,
  };
}

describe('the results of a finished job', () => {
  test('are downloaded, named after the input and recorded', async () => {
    const { deliver, jobWith, content, paths, folder, delivered } = await startDelivery();
    let bytes = 0;
    const files = await deliver(jobWith(), {
      onProgress: (done) => {
        bytes = done;
      },
    });
    expect(files).toMatchObject([
      { path: paths.vocals, bytes: content.vocals.length, sha256: sha256(content.vocals), skipped: false },
      { path: paths.background, sha256: sha256(content.background), skipped: false },
    ]);
    expect((await readFile(paths.vocals)).equals(content.vocals)).toBe(true);
    expect((await readFile(paths.background)).equals(content.background)).toBe(true);
    expect((await readdir(folder)).sort()).toEqual(['talk.background.wav', 'talk.vocals.wav']);
    expect(delivered).toEqual([files]);
    expect(bytes).toBe(content.background.length);
  });

  test('have left nothing of what they were made of when they count as delivered', async () => {
    const { client, server } = await startHarness();
    const folder = makeFolder();
    const srt = Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nHola\n');
    const subtitle = { url: `${server.origin}/files/es.srt`, content_type: 'application/x-subrip' };
    const job = { id: 'tr_1', status: 'succeeded', result: { subtitle, target_language: 'es' } };
    server.route = () => answer(200, { 'content-type': 'application/x-subrip' }, srt);
    const rewrite = { format: 'vtt', apply: async (bytes: Uint8Array) => bytes } as const;
    const seen: string[][] = [];
    await deliverResults(readJob('subtitle_translation', job, null), {
      ...{ client, locksDir: folder, turns: new PQueue({ concurrency: 1 }) },
      record: {
        find: async () => [],
        add: async () => undefined,
        noteDelivered: async () => void seen.push(await readdir(join(folder, 'out'))),
      },
      naming: {
        ...{ stem: 'talk', asked: 'es', found: null },
        delivery: { folder: join(folder, 'out'), template: '', existing: 'refuse', rewrite },
      },
      addTracks: () => Promise.reject(new Error('no tracks are wanted')),
      findInput: async () => null,
      signal: new AbortController().signal,
      onProgress: () => undefined,
    });
    expect(seen).toEqual([[expect.stringMatching(/^talk\.es\./)]]);
  });

  test.each([true, false])('are recorded before they get their names (hash stated: %s)', async (isHashed) => {
    const { deliver, jobWith, content, paths, published } = await startDelivery({ isHashed });
    await deliver(jobWith());
    expect(published.map(({ path, sha256: hash }) => [path, hash])).toEqual([
      [paths.vocals, sha256(content.vocals)],
      [paths.background, sha256(content.background)],
    ]);
  });

  test.each([true, false])(
    'are completed by the next delivery if one file was missing (hash stated: %s)',
    async (isHashed) => {
      const { deliver, jobWith, missing, paths, delivered, downloads } = await startDelivery({ isHashed });
      missing.add('background');
      const { facts } = await failureOf(deliver(jobWith()));
      expect(facts).toMatchObject({ category: 'expired', code: 'LINK_REFUSED' });
      expect([existsSync(paths.vocals), existsSync(paths.background)]).toEqual([true, false]);
      expect(delivered).toEqual([]);

      missing.clear();
      const before = downloads().length;
      await deliver(jobWith());
      expect(downloads().slice(before)).toEqual(['/files/background.wav']);
      expect(existsSync(paths.background)).toBe(true);
      expect(delivered).toHaveLength(1);
    },
  );

  test('are not downloaded again if an earlier delivery left them there', async () => {
    const { deliver, jobWith, record, downloads, delivered } = await startDelivery();
    const earlier = await deliver(jobWith());
    const before = downloads().length;
    const again = await deliver(jobWith(), { record: { ...record, findDelivered: async () => earlier } });
    expect(again).toBe(earlier);
    expect(downloads()).toHaveLength(before);
    expect(delivered).toEqual([earlier, earlier]);
  });

  test('go first if their links expire first', async () => {
    const { deliver, jobWith, turns } = await startDelivery();
    const order: string[] = [];
    const none = new AbortController().signal;
    const endTurn = await takeTurn(turns, none);
    const deliverAt = (name: string, expires_at?: string) =>
      deliver(jobWith({ expires_at }), { existing: 'replace', onBegin: () => order.push(name) });
    const all = [
      deliverAt('never'),
      deliverAt('late', '2027-01-02T00:00:00Z'),
      deliverAt('soon', '2027-01-01T00:00:00Z'),
    ];
    // All of them now wait for a turn.
    await setImmediate();
    endTurn();
    await Promise.all(all);
    expect(order).toEqual(['soon', 'late', 'never']);
  });
});

describe('an existing file with the name of a result', () => {
  const MINE = 'not a result';

  async function startWithFile() {
    const started = await startDelivery();
    await mkdir(started.folder);
    await writeFile(started.paths.vocals, MINE);
    return started;
  }

  test('is kept, and the delivery fails without a download or a record', async () => {
    const { deliver, jobWith, paths, delivered, downloads, turns } = await startWithFile();
    const { facts } = await failureOf(deliver(jobWith()));
    expect(facts).toMatchObject({ category: 'usage', code: 'TARGET_EXISTS' });
    expect(await readFile(paths.vocals, 'utf8')).toBe(MINE);
    expect(downloads()).toEqual([]);
    expect(delivered).toEqual([]);
    const endTurn = await takeTurn(turns, AbortSignal.timeout(1_000));
    endTurn();
  });

  test('is replaced if the user allows it', async () => {
    const { deliver, jobWith, paths, content } = await startWithFile();
    await deliver(jobWith(), { existing: 'replace' });
    expect((await readFile(paths.vocals)).equals(content.vocals)).toBe(true);
  });

  test('is skipped if the user wants that, and the other file is downloaded', async () => {
    const { deliver, jobWith, paths, downloads } = await startWithFile();
    const files = await deliver(jobWith(), { existing: 'skip' });
    expect(files.map(({ skipped, bytes }) => [skipped, bytes === null])).toEqual([
      [true, true],
      [false, false],
    ]);
    expect(await readFile(paths.vocals, 'utf8')).toBe(MINE);
    expect(downloads()).toEqual(['/files/background.wav']);
  });

  test('is never replaced if it is an input', async () => {
    const { deliver, jobWith, paths } = await startWithFile();
    const inputs = createInputs([paths.vocals]);
    const work = deliver(jobWith(), { existing: 'replace', findInput: inputs.find });
    expect((await failureOf(work)).facts.category).toBe('usage');
    expect(await readFile(paths.vocals, 'utf8')).toBe(MINE);
  });
});

describe('a delivery fails', () => {
  test('with the disk error if the folder for results cannot be created', async () => {
    const { deliver, jobWith, folder, delivered, downloads } = await startDelivery();
    await writeFile(folder, 'a file in the place of the folder');
    const { facts } = await failureOf(deliver(jobWith()));
    expect(facts.category).toBe('disk');
    expect(facts.message).toContain(folder);
    expect(downloads()).toEqual([]);
    expect(delivered).toEqual([]);
  });

  test('with the error of the record, before a file gets its name', async () => {
    const { deliver, jobWith, record, paths } = await startDelivery({ isHashed: false });
    const full = new Failure({ category: 'disk', code: 'DISK_FULL', message: 'no space left' });
    const work = deliver(jobWith(), { record: { ...record, add: () => Promise.reject(full) } });
    expect(await failureOf(work)).toBe(full);
    expect(existsSync(paths.vocals)).toBe(false);
  });

  test('with the error of the caller if it claims a path, before anything is requested', async () => {
    const { deliver, jobWith, paths, downloads } = await startDelivery();
    const claimed: string[] = [];
    const claim = (found: readonly string[]) => {
      claimed.push(...found);
      throw new Failure({ category: 'usage', code: 'TARGET_EXISTS', message: 'claimed' });
    };
    expect((await failureOf(deliver(jobWith(), { claim }))).facts.message).toBe('claimed');
    expect(claimed).toEqual([paths.vocals, paths.background]);
    expect(downloads()).toEqual([]);
  });

  test.each([
    [
      'failed',
      { error: { code: 'SOURCE_UNREADABLE', message: 'no video', retryable: false } },
      'SOURCE_UNREADABLE',
    ],
    ['failed', {}, 'JOB_FAILED'],
    ['cancelled', {}, 'JOB_CANCELLED'],
  ])('with the failure of a job that %s (%j)', async (status, fields, code) => {
    const { deliver, jobWith, downloads } = await startDelivery();
    const { facts } = await failureOf(deliver(jobWith({ status, ...fields })));
    expect(facts).toMatchObject({ category: 'job', code, jobId: 'sep_1' });
    expect(downloads()).toEqual([]);
  });

  test('with the reason of the signal, before anything is requested', async () => {
    const { deliver, jobWith, downloads } = await startDelivery();
    const reason = new Error('stopped');
    await expect(deliver(jobWith(), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(downloads()).toEqual([]);
  });
});
