import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startVloc } from '../../commands/support/run-vloc.ts';
import { readySource, TRANSLATION, untilJob } from '../../service/harness/scene.ts';

const TO_FRENCH = ['--from', 'en', '--to', 'fr'];

test('a finished recognition is translated, and the translation dubbed, by their ids alone', async () => {
  const vloc = await startVloc();
  const source = await readySource(vloc.caller);
  const { json } = await vloc.caller.post('/v1/subtitle-recognitions', { source });
  await untilJob(vloc.caller, json, 'succeeded');
  const translated = await vloc.run(['translate', json.id, ...TO_FRENCH, '-o', 'json']);
  expect(translated.code).toBe(0);
  const [row] = JSON.parse(translated.stdout).data;
  expect(row).toMatchObject({ input: json.id, kind: 'subtitle_translation', status: 'succeeded' });
  expect(await readFile(join(vloc.folder, `${json.id}.fr.srt`), 'utf8')).toContain('HELLO');
  const dubbed = await vloc.run(['dub', `subtitle-translations/${row.id}`, '--to', 'fr', '-o', 'plain']);
  expect(dubbed.stdout).toBe(`${join(vloc.folder, `${row.id}.fr.wav`)}\n`);
});

test('a running one ends with exit code 8 and the command that waits, and makes no job', async () => {
  const vloc = await startVloc();
  vloc.engines.hold();
  const { json } = await vloc.caller.post('/v1/subtitle-translations', TRANSLATION);
  const { code, stderr } = await vloc.run(['dub', json.id, '--to', 'es']);
  vloc.engines.letGo();
  expect(code).toBe(8);
  expect(stderr).toContain(`vloc jobs wait ${json.id}`);
  expect((await vloc.caller.get('/v1/dubbings')).json.data).toEqual([]);
});

test('a failed one ends with exit code 5', async () => {
  const vloc = await startVloc();
  vloc.engines.hold();
  const { json } = await vloc.caller.post('/v1/subtitle-translations', TRANSLATION);
  await vloc.caller.delete(json.detail_url);
  vloc.engines.letGo();
  const { code, stderr } = await vloc.run(['dub', json.id, '--to', 'es']);
  expect([code, stderr]).toEqual([5, expect.stringContaining('the job was cancelled')]);
});
