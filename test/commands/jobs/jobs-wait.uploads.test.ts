import { join, parse } from 'node:path';
import { expect, test } from 'vitest';
import { readySource } from '../../service/harness/scene.ts';
import { startVloc } from '../support/run-vloc.ts';

test('a job that another program made is named by the file of its upload and the target language', async () => {
  const vloc = await startVloc();
  const source = await readySource(vloc.caller);
  const { json: upload } = await vloc.caller.get(`/v1/uploads/${source.upload_id}`);
  const make = async () => {
    const body = { source, target_language: 'es' };
    return String((await vloc.caller.post('/v1/auto-localizations', body)).json.id);
  };
  const older = await make();
  vloc.clock.advance(1000);
  const newer = await make();
  const { code, stdout, stderr } = await vloc.run(['jobs', 'wait', older, newer, '-o', 'json']);
  expect(code, stderr).toBe(0);
  const stem = parse(upload.file_name).name;
  const files = JSON.parse(stdout).data.map(
    ({ id, files: [file] }: { id: string; files: { path: string }[] }) => [id, file?.path],
  );
  expect(Object.fromEntries(files)).toEqual({
    [newer]: join(vloc.folder, `${stem}.es.mp4`),
    [older]: join(vloc.folder, `${older}.es.mp4`),
  });
});

test('a reference written by hand neither leads out of the folder nor hides the language of the job', async () => {
  const vloc = await startVloc();
  const { json } = await vloc.caller.post('/v1/auto-localizations', {
    source: await readySource(vloc.caller),
    target_language: 'es',
    client_reference: `vloc:${'0'.repeat(10)}:${'0'.repeat(16)}:ca:${encodeURIComponent('../../talk')}`,
  });
  const { code, stdout, stderr } = await vloc.run(['jobs', 'wait', json.id, '-o', 'json']);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).data[0].files[0].path).toBe(join(vloc.folder, '_.._talk.es.mp4'));
});
