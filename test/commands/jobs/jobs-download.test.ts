import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openJobRecord } from '../../../src/batch/records/job-record.ts';
import { profileId } from '../../../src/batch/records/profile-id.ts';
import { LINES, TRANSLATION, untilJob } from '../../service/harness/scene.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

async function makeJob(
  { caller }: VlocScene,
  path = '/v1/subtitle-translations',
  body: object = TRANSLATION,
) {
  const { json } = await caller.post(path, body);
  await untilJob(caller, json, 'succeeded');
  return String(json.id);
}

test('the files of a finished job are downloaded to the folder', async () => {
  const vloc = await startVloc();
  const id = await makeJob(vloc);
  const { code, stdout } = await vloc.run([
    'jobs',
    'download',
    id,
    '--out',
    join(vloc.folder, 'out'),
    '-o',
    'plain',
  ]);
  expect([code, stdout]).toEqual([0, `${join(vloc.folder, 'out', `${id}.es.srt`)}\n`]);
  expect(await readFile(stdout.trim(), 'utf8')).toContain('HELLO');
});

test('--all-finished fetches results in the order of their expiry, and nothing twice', async () => {
  const vloc = await startVloc();
  const older = await makeJob(vloc);
  vloc.clock.advance(3_600_000);
  const newer = await makeJob(vloc, '/v1/dubbings', { subtitle: LINES, target_language: 'es' });
  const words = ['jobs', 'download', '--all-finished', '--out', vloc.folder];
  const first = JSON.parse((await vloc.run([...words, '-o', 'json'])).stdout);
  expect(first.data.map((row: { id: string }) => row.id)).toEqual([older, newer]);
  const names = (await readdir(vloc.folder)).filter((name) => name !== 'state');
  expect(names.sort()).toEqual([`${newer}.es.wav`, `${older}.es.srt`].sort());
  await writeFile(join(vloc.folder, `${older}.es.srt`), 'kept');
  const second = JSON.parse((await vloc.run([...words, '-o', 'json'])).stdout);
  expect(second.data.map((row: { files: { skipped: boolean }[] }) => row.files[0]?.skipped)).toEqual([
    true,
    true,
  ]);
  expect(await readFile(join(vloc.folder, `${older}.es.srt`), 'utf8')).toBe('kept');
});

test('--all-finished omits expired results', async () => {
  const vloc = await startVloc();
  await makeJob(vloc);
  const tomorrow = vloc.clock.now() + 25 * 3_600_000;
  const { code, stderr } = await vloc.run(['jobs', 'download', '--all-finished'], { now: () => tomorrow });
  expect(code).toBe(0);
  expect(stderr).toContain('1 result has expired.\nNothing to download.');
});

test.each([[[]], [['x_1', '--all-finished']]])(
  '%j lacks ids and --all-finished, or has both',
  async (words) => {
    const vloc = await startVloc();
    const { code, stderr } = await vloc.run(['jobs', 'download', ...words]);
    expect(code).toBe(2);
    expect(stderr).toContain('use --all-finished');
  },
);

test('a foreign file at the path of a result is kept, and the result counts as not fetched', async () => {
  const vloc = await startVloc();
  const subtitle = join(vloc.folder, 'talk.srt');
  await writeFile(subtitle, '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const { stdout: id } = await vloc.run([
    'translate',
    subtitle,
    '--from',
    'en',
    '--to',
    'es',
    '--detach',
    '-o',
    'id',
  ]);
  await untilJob(vloc.caller, { detail_url: `/v1/subtitle-translations/${id.trim()}` }, 'succeeded');
  await writeFile(join(vloc.folder, 'es.srt'), 'foreign');
  const words = ['jobs', 'download', '--all-finished', '--name', '{lang}{ext}', '-o', 'json'];
  expect(JSON.parse((await vloc.run(words)).stdout).data[0].files[0].skipped).toBe(true);
  const unfetched = () => openJobRecord(join(vloc.folder, 'state'), profile(vloc), Date.now).listUnfetched();
  expect(await unfetched()).toHaveLength(1);
  expect((await vloc.run([...words, '--clobber'])).code).toBe(0);
  expect(await unfetched()).toHaveLength(0);
});

function profile({ env }: VlocScene): string {
  return profileId(env.VLOC_BASE_URL ?? '', env.VLOC_KEY ?? '');
}
