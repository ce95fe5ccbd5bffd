/** Killed between parts, the next run continues where this one ended: nothing is cut, sent or paid twice. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSrt } from '../../../src/protocol/srt.ts';
import type { Faults } from '../../../src/service/index.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { testsOwnWork } from '../../service/harness/profiles.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { environmentOf } from '../support/run-vloc.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

const MP4 = ['-pix_fmt', 'yuv420p', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '5', '-c:a', 'aac'];
const WORDS = ['recognize', 'talk.mp4', '--split', '--out', 'out'];

/** Kills the child at a step of the service: when a request is there, or when it was carried out and not answered. */
function killAt(method: string, path: RegExp, time: number, when: 'before' | 'after') {
  const state: { child: ChildProcess | null } = { child: null };
  let seen = 0;
  const kill = async (request: Parameters<Faults['before']>[0]) => {
    const isMeant = request.method === method && path.test(request.target.split('?')[0] ?? '');
    if (isMeant) seen += 1;
    if (!isMeant || seen !== time || state.child === null) return null;
    const gone = once(state.child, 'exit');
    state.child.kill('SIGKILL');
    await gone;
    return 'drop' as const;
  };
  return Object.assign(state, {
    before: async (request: Parameters<Faults['before']>[0]) => (when === 'before' ? kill(request) : null),
    after: async (...[request, answer]: Parameters<Faults['after']>) =>
      (when === 'after' ? await kill(request) : null) ?? answer,
  });
}

function start({ folder, service, credentials }: MediaDesk, searchPath = rememberingPath()): ChildProcess {
  const script = join(import.meta.dirname, '../support/vloc-process.ts');
  const child = spawn(process.execPath, [script, ...WORDS, '-o', 'ndjson'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: searchPath,
      ...environmentOf({ service, credentials }, folder),
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** What the child says that it does to its video, until it ends. */
async function* doingOf(child: ChildProcess): AsyncGenerator<string> {
  if (child.stdout === null) throw new Error('its output is no pipe');
  for await (const line of createInterface({ input: child.stdout })) {
    const { doing } = JSON.parse(line);
    if (typeof doing === 'string') yield doing;
  }
}

/** @param cuts whether the parts have to be cut once more */
async function expectWhole(desk: MediaDesk, cuts: boolean): Promise<void> {
  const { code, stdout, stderr } = await desk.vloc([...WORDS, '-o', 'ndjson']);
  expect(code, stderr).toBe(0);
  expect(stdout.includes('"doing":"cutting"')).toBe(cuts);
  const path = join(desk.folder, 'out', 'talk.en.srt');
  expect(parseSrt(readFileSync(path, 'utf8'))).toHaveLength(2);
  const { json: jobs } = await desk.caller.get('/v1/subtitle-recognitions?limit=50');
  const { json: paid } = await desk.caller.get('/v1/credit-transactions?limit=50');
  const { json: uploads } = await desk.caller.get('/v1/uploads?limit=50');
  const ready = uploads.data.filter(({ status }: { status: string }) => status === 'ready');
  expect([jobs.data.length, paid.data.length]).toEqual([2, 2]);
  // One may have been running that nobody could record.
  expect(ready.length).toBeLessThanOrEqual(3);
}

describe('a run that is killed', () => {
  it.each([
    [
      'when the job of the second part is created but not answered',
      'POST',
      /\/subtitle-recognitions$/,
      2,
      'after',
    ],
  ] as const)('%s', async (_name, method, path, time, when) => {
    const faults = killAt(method, path, time, when);
    const desk = await openMediaDesk({ faults });
    makeVideo(desk.folder, 'talk.mp4', 6, ...MP4);
    const child = start(desk);
    faults.child = child;
    child.stdout?.resume();
    const [, signal] = await once(child, 'exit');
    expect(signal).toBe('SIGKILL');
    await expectWhole(desk, false);
  });

  // This is work of this machine alone, before the first request for a part or after the last one.
  const ownWork = [
    ['while it cuts', 'cutting', true],
    ['while it joins', 'joining', false],
  ] as const;
  it.runIf(testsOwnWork()).each(ownWork)('%s', async (_name, end, cuts) => {
    const desk = await openMediaDesk();
    makeVideo(desk.folder, 'talk.mp4', 6, ...MP4);
    // With programs that work when the kill comes.
    const child = start(desk, process.env.PATH);
    const gone = once(child, 'exit');
    for await (const doing of doingOf(child)) if (doing === end) child.kill('SIGKILL');
    const [, signal] = await gone;
    expect(signal).toBe('SIGKILL');
    await expectWhole(desk, cuts);
  });
});
