import { expect, test } from 'vitest';
import { finishUpload, sendUpload } from '../../service/harness/scene.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = Buffer.from('1\n00:00:01,000 --> 00:00:02,000\nHello\n');

test('uploads are listed by status and purpose, with the requested columns', async () => {
  const vloc = await startVloc();
  const video = await finishUpload(vloc.caller, videoOf(31));
  vloc.clock.advance(1000);
  const subtitle = await finishUpload(vloc.caller, SRT, 'subtitle_file');
  const { id: waiting } = await sendUpload(vloc.caller, SRT, 'subtitle_file');
  const ids = async (...words: string[]) =>
    (await vloc.run(['upload', 'list', '-o', 'id', ...words])).stdout.trim().split('\n');
  expect(await ids('--status', 'ready')).toEqual([subtitle.id, video.id]);
  expect(await ids('--status', 'waiting_for_upload')).toEqual([waiting]);
  expect(await ids('--purpose', 'source_video', '--since', '1h')).toEqual([video.id]);
  const columns = await vloc.run([
    'upload',
    'list',
    '--limit',
    '3',
    '--fields',
    'purpose,status',
    '-o',
    'plain',
  ]);
  expect(columns.stdout.split('\n').slice(1)).toEqual(['subtitle_file\tready', 'source_video\tready', '']);
});

test('a table describes the content of each', async () => {
  const vloc = await startVloc();
  await finishUpload(vloc.caller, videoOf(31));
  const { stdout } = await vloc.run(['upload', 'list']);
  expect(stdout).toMatch(/ready +source_video +a\.bin +30 B +31 s of video +in [67] d\n$/);
});
