import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { JobFailure } from '../../src/protocol/job-failure.ts';
import { until } from '../service/harness/scene.ts';
import { makeFolder, startVloc } from './support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const COMMAND = ['translate', 'a.srt', 'b.srt', '--from', 'en', '--to', 'es', '--out', 'out'];

async function startBatch() {
  const vloc = await startVloc();
  for (const name of ['a', 'b']) await writeFile(join(vloc.folder, `${name}.srt`), SRT);
  return vloc;
}

test('all done is exit code 0 and a count', async () => {
  const vloc = await startBatch();
  await vloc.run(COMMAND);
  const { code, stdout, stderr } = await vloc.run(['batch', 'status', 'out']);
  expect([code, stdout]).toEqual([0, 'STATE  ITEMS\ndone   2\n']);
  expect(stderr).toMatch(/^Credits: \d+ charged, 0 reserved\.\n$/);
});

test('what failed is shown with its reason and the command that runs it again: exit code 3', async () => {
  const vloc = await startBatch();
  vloc.engines.failNext(new JobFailure('SUBTITLE_INVALID', 'it cannot be read'));
  await vloc.run(COMMAND);
  const { code, stdout, stderr } = await vloc.run(['batch', 'status', 'out']);
  expect(code).toBe(3);
  expect(stdout).toMatch(/srt → es +failed +tra_\w+ +SUBTITLE_INVALID: it cannot be read/);
  expect(stderr).toContain(`Continue with:\n  vloc batch retry ${join(vloc.folder, 'out')}\n`);
  expect(stderr).toContain('1 of 2 items failed');
});

test('a batch that nobody works on is open with the command that goes on: exit code 8', async () => {
  const vloc = await startBatch();
  vloc.engines.hold();
  await vloc.run([...COMMAND, '--detach']);
  const { code, stdout, stderr } = await vloc.run(['batch', 'status', 'out', '-o', 'json'], {
    env: { npm_command: 'exec' },
  });
  expect(code).toBe(8);
  const document = JSON.parse(stdout);
  expect(document).toMatchObject({
    object: 'batch_report',
    folder: join(vloc.folder, 'out'),
    counts: { running: 2, done: 0 },
    worker: null,
    continue_with: [`npx vloc ${COMMAND.join(' ')} --detach`],
  });
  expect(document.items).toHaveLength(2);
  expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error.code).toBe('BATCH_OPEN');
  vloc.engines.letGo();
});

test('it says which process is at work, and disturbs it not', async () => {
  const vloc = await startBatch();
  vloc.engines.hold();
  const running = vloc.run(COMMAND);
  const { stdout, stderr } = await until(
    () =>
      vloc.run(['batch', 'status', 'out', '-o', 'json']).catch(() => ({ code: 0, stdout: '', stderr: '' })),
    (ended) => ended.stdout.includes('"running": 2'),
  );
  expect(JSON.parse(stdout).worker).toMatchObject({ pid: process.pid, certain: true });
  expect(stderr).toContain(`Process ${process.pid} on `);
  expect(stderr).not.toContain('Continue with');
  vloc.engines.letGo();
  expect((await running).code).toBe(0);
});

test('--fields cuts the items, in every form', async () => {
  const vloc = await startBatch();
  await vloc.run(COMMAND);
  const words = ['batch', 'status', 'out', '--all', '--fields', 'label,state'];
  expect((await vloc.run([...words, '-o', 'plain'])).stdout).toBe('a.srt → es\tdone\nb.srt → es\tdone\n');
  const { stdout } = await vloc.run([...words, '-o', 'ndjson']);
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toEqual({ label: 'a.srt → es', state: 'done' });
});

test('a folder without a batch is told from one with an empty one', async () => {
  const vloc = await startVloc();
  await mkdir(join(vloc.folder, 'out'));
  for (const folder of ['out', 'nowhere', await makeFolder()]) {
    const { code, stderr } = await vloc.run(['batch', 'status', folder]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('there is no batch in')]);
  }
});
