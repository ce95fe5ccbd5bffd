/** Every command that a run prints is run unchanged: it must reach the same service. */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Scene, startScene } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { type Ended, foldersIn, type Running, startMain } from '../../support/run-main.ts';
import type { TestIoOptions } from '../../support/test-io.ts';
import { QUICK, untilAccepted } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';
/** Nobody listens there: a command that loses its way ends with a failure. */
const DECOY = 'http://127.0.0.1:1/v1';

interface Bench {
  readonly scene: Scene;
  readonly folder: string;
  /** What a command must repeat: all other ways lead to the decoy. */
  readonly flags: readonly string[];
  readonly open: (words: readonly string[], io?: TestIoOptions) => Running;
  /** Runs vloc with these flags. */
  readonly run: (...words: string[]) => Promise<Ended>;
  /** Runs a command line as a shell takes it apart. */
  readonly paste: (line: string, from?: string) => Promise<Ended>;
  readonly jobs: () => Promise<number>;
  readonly has: (name: string) => boolean;
}

/** A service that a flag chooses, against a variable. */
async function openBench(secret?: string): Promise<Bench> {
  const scene = await startScene();
  const folder = makeFolder();
  const flags = ['--base-url', scene.service.url];
  await mkdir(join(folder, 'my subs'));
  await writeFile(join(folder, 'my subs', 'talk.srt'), SRT);
  const { key: VLOC_KEY, secret: VLOC_SECRET } = scene.credentials;
  const env = {
    ...foldersIn(folder),
    ...{ VLOC_BASE_URL: DECOY, VLOC_KEY, VLOC_SECRET: secret ?? VLOC_SECRET },
  };
  const open: Bench['open'] = (words, io) => startMain(words, { cwd: folder, env, pace: QUICK, ...io });
  return {
    scene,
    folder,
    flags,
    open,
    run: (...words) => open([...words, ...flags]).ended,
    paste: (line, from = folder) => {
      const { cwd, words } = takeApart(line, from);
      return open(words, { cwd }).ended;
    },
    jobs: async () => (await scene.caller.get('/v1/subtitle-translations')).json.data.length,
    has: (name) => existsSync(join(folder, name)),
  };
}

/** What a shell makes of a line: the folder in which it calls vloc, and with which words. */
function takeApart(line: string, folder: string): { cwd: string; words: readonly string[] } {
  const script = `vloc() { printf '%s\\0' "$PWD" "$@"; }; ${line}`;
  const printed = execFileSync('sh', ['-c', script], { cwd: folder }).toString('utf8');
  const [cwd = '', ...words] = printed.split('\0').slice(0, -1);
  return { cwd, words };
}

/** Commands that were printed: alone on a line, after a label or a colon, or in backticks. */
function commandsIn({ stdout, stderr }: Ended): readonly string[] {
  const text = `${stdout}\n${stderr}`;
  const found = [...text.matchAll(/`(vloc [^`]+)`|(?:^ *|: +)((?:cd .* && )?vloc [a-z-].*)$/gm)];
  return found.map((match) => match[1] ?? match[2] ?? '');
}

const TRANSLATE = ['translate', 'my subs/talk.srt', '--from', 'en', '--to', 'es', '--out', 'my out'];
const RESULT = 'my out/talk.es.srt';

/** Runs the commands one after the other; each must bring the result by itself, without a second job. */
async function expectEachToFetch(bench: Bench, ended: Ended, count: number, from?: string): Promise<void> {
  const commands = commandsIn(ended);
  expect(commands, ended.stderr).toHaveLength(count);
  for (const command of commands) {
    await rm(join(bench.folder, RESULT), { force: true });
    const pasted = await bench.paste(command, from);
    expect([command, pasted.code], pasted.stderr).toEqual([command, 0]);
    expect([command, bench.has(RESULT)]).toEqual([command, true]);
  }
  expect(await bench.jobs()).toBe(1);
}

describe('with a service chosen by a flag', () => {
  it('an interrupted run prints commands that fetch its result', async () => {
    const bench = await openBench();
    bench.scene.engines.hold();
    const { send, ended } = bench.open([...TRANSLATE, ...bench.flags]);
    await untilAccepted(join(bench.folder, 'my out'), 1);
    send('SIGINT');
    const stopped = await ended;
    expect(stopped.code).toBe(130);
    bench.scene.engines.letGo();
    await expectEachToFetch(bench, stopped, 2);
  });

  it('`jobs wait` that timed out prints the command that continues waiting', async () => {
    const bench = await openBench();
    bench.scene.engines.hold();
    const detached = await bench.run(...TRANSLATE, '--detach', '-o', 'id');
    const words = ['--out', 'my out', '--name', 'talk.{lang}{ext}', '--timeout', '50ms'];
    const waited = await bench.run('jobs', 'wait', detached.stdout.trim(), ...words);
    expect(waited.code).toBe(8);
    bench.scene.engines.letGo();
    await expectEachToFetch(bench, waited, 1);
  });

  it('`batch status` from another folder prints the command that continues open items', async () => {
    const bench = await openBench();
    await bench.run(...TRANSLATE, '--detach');
    const cwd = join(bench.folder, 'my subs');
    const status = await bench.open(['batch', 'status', '../my out'], { cwd, env: {} }).ended;
    expect(status.code).toBe(8);
    await expectEachToFetch(bench, status, 1, cwd);
  });

  it('a failure that mentions `vloc doctor` names the service that failed', async () => {
    const bench = await openBench('wrong');
    const refused = await bench.run('credits');
    expect(refused.code, refused.stderr).toBe(4);
    const [command = ''] = commandsIn(refused);
    expect(command).toMatch(/^vloc doctor/);
    const { stdout } = await bench.paste(`${command} -o json`);
    const checks: { check: string; facts: { base_url?: string } }[] = JSON.parse(stdout).checks;
    expect(checks.find(({ check }) => check === 'configuration')?.facts.base_url).toBe(
      bench.scene.service.url,
    );
  });
});
