import { expect, test } from 'vitest';
import { TRANSLATION, untilJob } from '../../service/harness/scene.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

async function makeJob({ caller }: VlocScene): Promise<string> {
  const { json } = await caller.post('/v1/subtitle-translations', TRANSLATION);
  await untilJob(caller, json, 'succeeded');
  return json.id;
}

test('one id prints a record; several, and those on stdin, a list', async () => {
  const vloc = await startVloc();
  const ids = [await makeJob(vloc), await makeJob(vloc)];
  const [first = ''] = ids;
  const one = await vloc.run(['jobs', 'get', first, '-o', 'json']);
  expect(JSON.parse(one.stdout)).toMatchObject({ id: first, status: 'succeeded' });
  const several = await vloc.run(['jobs', 'get', ...ids, '-o', 'json', '--fields', 'id']);
  expect(JSON.parse(several.stdout).data).toEqual(ids.map((id) => ({ id })));
  const piped = await vloc.run(['jobs', 'get', '-', '-o', 'id'], {
    stdin: `${ids[1]}\tsucceeded\r\n\n${first}\n`,
  });
  expect(piped.stdout).toBe(`${ids[1]}\n${first}\n`);
});

test('missing jobs are reported along with the ones that were found', async () => {
  const vloc = await startVloc();
  const id = await makeJob(vloc);
  const { code, stdout, stderr } = await vloc.run(['jobs', 'get', id, 'tra_unknown', '-o', 'id']);
  expect([code, stdout]).toEqual([3, `${id}\n`]);
  expect(stderr).toContain('tra_unknown');
});

test('a job of a kind that the key may not read is reported as that, not as one that does not exist', async () => {
  const vloc = await startVloc();
  const id = await makeJob(vloc);
  await vloc.service.changeKey(vloc.credentials.key, { permissions: ['dubbing', 'audio_separation'] });
  const { code, stderr } = await vloc.run(['jobs', 'get', id]);
  expect([code, stderr]).toEqual([4, expect.stringContaining('CAPABILITY_NOT_PERMITTED')]);
  expect(stderr).toContain(`no job ${id} among those that the key may read`);
  expect(stderr).toContain('subtitle_translation');
});
