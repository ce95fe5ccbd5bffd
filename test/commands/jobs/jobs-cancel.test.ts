import { expect, test } from 'vitest';
import { TRANSLATION, untilJob } from '../../service/harness/scene.ts';
import { startMain } from '../../support/run-main.ts';
import { linesOf, startVloc } from '../support/run-vloc.ts';

/** A service with a job that is done and two that wait. */
async function makeStage() {
  const vloc = await startVloc();
  const make = async () => (await vloc.caller.post('/v1/subtitle-translations', TRANSLATION)).json;
  const done = await make();
  await untilJob(vloc.caller, done, 'succeeded');
  vloc.engines.hold();
  const ids: readonly string[] = [(await make()).id, (await make()).id];
  return { vloc, done: String(done.id), ids };
}

test('programs get a line for each id and the exit code at the end', async () => {
  const { vloc, done, ids } = await makeStage();
  const words = ['jobs', 'cancel', ids[0] ?? '', done, 'tra_unknown', ids[1] ?? '', '-o', 'ndjson'];
  const { code, stdout } = await vloc.run(words);
  expect(code).toBe(3);
  const lines = linesOf(stdout);
  expect(lines).toMatchObject([
    { type: 'job', id: ids[0], status: 'cancelled' },
    { type: 'failed', id: done, code: 'JOB_NOT_CANCELLABLE' },
    { type: 'failed', id: 'tra_unknown', code: 'RESOURCE_NOT_FOUND' },
    { type: 'job', id: ids[1], status: 'cancelled' },
    { type: 'summary', jobs: 4, failed: 2, exit_code: 3 },
  ]);
});

test('a job that has ended keeps its id and its status', async () => {
  const { vloc, done } = await makeStage();
  const json = await vloc.run(['jobs', 'cancel', done, '-o', 'json']);
  expect(JSON.parse(json.stdout).data).toMatchObject([
    { id: done, kind: 'subtitle_translation', status: 'succeeded', error: { code: 'JOB_NOT_CANCELLABLE' } },
  ]);
  const table = await vloc.run(['jobs', 'cancel', done]);
  expect(table.stdout).toMatch(new RegExp(`${done} +es +succeeded +JOB_NOT_CANCELLABLE +${done}`));
});

test('the command prints on Ctrl-C the jobs that are cancelled so far, and the command for the others', async () => {
  const { vloc, ids } = await makeStage();
  const running = startMain(['jobs', 'cancel', ...ids, '-o', 'json'], { cwd: vloc.folder, env: vloc.env });
  running.send('SIGINT');
  const { code, stdout, stderr } = await running.ended;
  expect(code).toBe(130);
  expect(JSON.parse(stdout).data.map(({ input }: { input: string }) => input)).toEqual(ids);
  expect(stderr).toContain(`  vloc jobs cancel ${ids.join(' ')}\n`);
});
