import { expect, test } from 'vitest';
import { putObject, until } from '../../service/harness/scene.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nHello\n');
const CREATE = ['upload', 'create', '--purpose', 'subtitle_file', '--content-type', 'application/x-subrip'];

test('an upload is possible step by step: create, PUT by another program, complete, get', async () => {
  const vloc = await startVloc();
  const created = await vloc.run([
    ...CREATE,
    '--file-name',
    'a.srt',
    '--size-bytes',
    String(SRT.length),
    '-o',
    'json',
  ]);
  const reserved = JSON.parse(created.stdout);
  expect(reserved).toMatchObject({ status: 'waiting_for_upload', file_name: 'a.srt' });
  const put = await putObject({ status: 201, headers: {}, bytes: SRT, json: reserved }, SRT);
  const completed = await vloc.run([
    'upload',
    'complete',
    reserved.id,
    '--etag',
    String(put.headers.etag),
    '-o',
    'json',
  ]);
  expect(JSON.parse(completed.stdout).id).toBe(reserved.id);
  const last = await until(
    () => vloc.run(['upload', 'get', reserved.id, '--jq', '.status']),
    ({ stdout }) => stdout !== 'validating\n',
  );
  expect(last.stdout).toBe('ready\n');
});
