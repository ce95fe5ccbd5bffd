import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { SYSTEM_RUNTIME } from '../../../src/client/runtime.ts';
import { until } from '../../service/harness/scene.ts';
import { createTestIo } from '../../support/test-io.ts';
import { startVloc, untilAccepted } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
const COMMAND = ['translate', 'a.srt', 'b.srt', '--from', 'en', '--to', 'es', '--out', 'out'];

async function startBatch() {
  const vloc = await startVloc();
  for (const name of ['a', 'b']) await writeFile(join(vloc.folder, `${name}.srt`), SRT);
  return vloc;
}

test('jobs of several kinds in one folder are distinguished by a column', async () => {
  const vloc = await startBatch();
  await vloc.run(COMMAND);
  const alone = await vloc.run(['batch', 'status', 'out', '--all']);
  expect(alone.stdout).not.toContain('KIND');
  await vloc.run(['dub', 'a.srt', '--to', 'es', '--out', 'out']);
  const { stdout } = await vloc.run(['batch', 'status', 'out', '--all']);
  expect(stdout).toMatch(/^ITEM +KIND +STATE +JOB/m);
  expect(stdout).toMatch(/^a\.srt → es +subtitle_translation +done +tra_/m);
  expect(stdout).toMatch(/^a\.srt → es +dubbing +done +dub_/m);
});

test('a batch without a running process is open, with the command that continues: exit code 8', async () => {
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
    continue_with: [`npx vloc ${COMMAND.join(' ')}`],
  });
  expect(document.items).toHaveLength(2);
  expect(JSON.parse(stderr.trim().split('\n').at(-1) ?? '').error.code).toBe('BATCH_OPEN');
  vloc.engines.letGo();
});

test('it names the process that works on it, without disturbing it', async () => {
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

test('--watch shows the totals until everything has finished, then how it ended', async () => {
  const vloc = await startBatch();
  vloc.engines.hold();
  const running = vloc.run(COMMAND);
  await untilAccepted(join(vloc.folder, 'out'), 2);
  let looks = 0;
  const sleep = async () => {
    looks += 1;
    if (looks > 1) return;
    vloc.engines.letGo();
    await running;
  };
  const { code, stdout, stderr } = await vloc.run(['batch', 'status', 'out', '--watch'], {
    pace: { runtime: { ...SYSTEM_RUNTIME, sleep } },
  });
  expect([code, looks, stdout]).toEqual([0, 1, 'STATE  ITEMS\ndone   2\n']);
  expect(stderr).toContain('0 of 2 done, 2 running');
  expect(stderr).toContain('2 of 2 done');
});

test('--watch ends with Ctrl-C', async () => {
  const vloc = await startBatch();
  vloc.engines.hold();
  await vloc.run([...COMMAND, '--detach']);
  const sleep = async (_ms: number, signal?: AbortSignal) => {
    terminal.send('SIGINT');
    signal?.throwIfAborted();
  };
  const terminal = createTestIo({ cwd: vloc.folder, pace: { runtime: { ...SYSTEM_RUNTIME, sleep } } });
  expect(await main(['batch', 'status', 'out', '--watch'], terminal.io)).toBe(130);
  expect(terminal.stderr()).toContain(
    '0 of 2 done, 2 running · 0 credits, 2 credits reserved · no process works on it',
  );
  vloc.engines.letGo();
});

test('--fields selects fields of the items, in every form', async () => {
  const vloc = await startBatch();
  await vloc.run(COMMAND);
  const words = ['batch', 'status', 'out', '--all', '--fields', 'label,state'];
  expect((await vloc.run([...words, '-o', 'plain'])).stdout).toBe('a.srt → es\tdone\nb.srt → es\tdone\n');
  const { stdout } = await vloc.run([...words, '-o', 'ndjson']);
  expect(JSON.parse(stdout.split('\n')[0] ?? '')).toEqual({ label: 'a.srt → es', state: 'done' });
});
