import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StopSignal } from '../../../src/base/exit-codes.ts';
import { TRANSLATION, until, untilJob } from '../../service/harness/scene.ts';
import { type Ended, startMain } from '../../support/run-main.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';

interface Stage {
  readonly vloc: VlocScene;
  /** A job that is done, and one that runs until the engines are let go. */
  readonly done: string;
  readonly running: string;
}

async function makeStage(): Promise<Stage> {
  const vloc = await startVloc();
  const make = async () => (await vloc.caller.post('/v1/subtitle-translations', TRANSLATION)).json;
  const done = await make();
  await untilJob(vloc.caller, done, 'succeeded');
  vloc.engines.hold();
  return { vloc, done: done.id, running: (await make()).id };
}

const wishes = ['--out', 'o', '--name', '{id}{ext}', '--clobber'];

/** Runs a command until it reports the result of the first job, and stops it. */
async function stopBehind(
  { vloc, done }: Stage,
  words: readonly string[],
  signal: StopSignal,
): Promise<Ended> {
  const running = startMain(words, { cwd: vloc.folder, env: vloc.env });
  await until(() => running.stderr().includes(`${done}.srt`));
  running.send(signal);
  return running.ended;
}

async function stopAtOnce(vloc: VlocScene, words: readonly string[]): Promise<Ended> {
  const running = startMain(words, { cwd: vloc.folder, env: vloc.env });
  running.send('SIGINT');
  const ended = await running.ended;
  vloc.engines.letGo();
  return ended;
}

describe('Ctrl-C while waiting for jobs', () => {
  it('prints the results so far, and the command that gets the rest to the same place', async () => {
    const stage = await makeStage();
    const { vloc, done, running } = stage;
    const words = ['jobs', 'wait', done, running, ...wishes];
    const { code, stdout, stderr } = await stopBehind(stage, [...words, '-o', 'json'], 'SIGINT');
    expect(code).toBe(130);
    expect(JSON.parse(stdout).data).toMatchObject([
      {
        id: done,
        status: 'succeeded',
        files: [{ path: join(vloc.folder, 'o', `${done}.srt`) }],
        error: null,
      },
      { id: running, status: 'processing', files: [], error: null },
    ]);
    const command = /^ {2}vloc (jobs wait .*)$/m.exec(stderr)?.[1] ?? '';
    expect(command).toBe(`jobs wait ${running} --out ${join(vloc.folder, 'o')} --name '{id}{ext}' --clobber`);
    vloc.engines.letGo();
    expect((await vloc.run(command.replaceAll("'", '').split(' '))).code).toBe(0);
    expect(existsSync(join(vloc.folder, 'o', `${running}.srt`))).toBe(true);
  });

  it('ends the lines for programs with a summary that reports it; SIGTERM too', async () => {
    const stage = await makeStage();
    const words = ['jobs', 'wait', stage.done, stage.running, ...wishes, '-o', 'ndjson'];
    const { code, stdout } = await stopBehind(stage, words, 'SIGTERM');
    stage.vloc.engines.letGo();
    expect(code).toBe(143);
    const last = stdout.trim().split('\n').at(-1) ?? '';
    expect(JSON.parse(last)).toEqual({ type: 'summary', jobs: 2, failed: 0, exit_code: 143 });
  });

  it('reports the names as given if the jobs were not found yet', async () => {
    const { vloc, done } = await makeStage();
    const flags = ['--base-url', vloc.env.VLOC_BASE_URL ?? ''];
    const { code, stdout, stderr } = await stopAtOnce(vloc, [
      ...['jobs', 'wait', done, '--out', 'o', '-o', 'json', ...flags],
    ]);
    expect(code).toBe(130);
    expect(JSON.parse(stdout).data).toMatchObject([{ input: done, id: null, files: [] }]);
    expect(stderr).toContain(`  vloc jobs wait ${done} --out ${join(vloc.folder, 'o')} ${flags.join(' ')}\n`);
  });
});

it('--timeout of several jobs says that they still run, and names them in the command', async () => {
  const { vloc, done, running } = await makeStage();
  const other = (await vloc.caller.post('/v1/subtitle-translations', TRANSLATION)).json.id;
  const all = await vloc.run(['jobs', 'wait', running, other, '--timeout', '50ms']);
  expect(all.code).toBe(8);
  expect(all.stderr).toContain('2 of 2 jobs are still running');
  expect(all.stderr).toContain(`wait for them with: vloc jobs wait ${running} ${other}\n`);
  const some = await vloc.run(['jobs', 'wait', done, running, 'tra_unknown', '--timeout', '50ms']);
  vloc.engines.letGo();
  expect(some.code).toBe(3);
  expect(some.stderr).toContain(`wait for them with: vloc jobs wait ${running}\n`);
});

describe('an interrupted download', () => {
  it('names what is missing in the command that continues', async () => {
    const { vloc, done } = await makeStage();
    const { code, stderr } = await stopAtOnce(vloc, ['jobs', 'download', done, '--skip-existing']);
    expect(code).toBe(130);
    expect(stderr).toContain(`  vloc jobs download ${done} --skip-existing\n`);
  });
});
