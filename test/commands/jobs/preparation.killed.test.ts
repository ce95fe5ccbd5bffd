/** Killed between parts, the next run continues where this one ended: nothing is cut, sent or paid twice. */
import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { parseSrt } from '../../../src/protocol/srt.ts';
import { makeVideo } from '../../prepare/workspace.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { createKiller, expectKilled, spawnVloc } from '../support/killed-vloc.ts';
import { environmentOf } from '../support/run-vloc.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

const MP4 = [
  '-vf',
  'scale=64:48',
  '-pix_fmt',
  'yuv420p',
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-g',
  '5',
  '-c:a',
  'aac',
];
const WORDS = ['recognize', 'talk.mp4', '--split', '--out', 'out'];

const start = ({ folder, service, credentials }: MediaDesk, searchPath = rememberingPath()) =>
  spawnVloc([...WORDS, '-o', 'ndjson'], {
    ...{ folder, stdio: ['ignore', 'pipe', 'inherit'] },
    env: { PATH: searchPath, ...environmentOf({ service, credentials }, folder) },
  });

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
  it('when the job of the second part is created but not answered', async () => {
    const isMeant = (method: string, url: string) =>
      method === 'POST' && /\/subtitle-recognitions$/.test(url);
    const killer = createKiller({ at: 'answer', isMeant, time: 2 });
    const desk = await openMediaDesk({ faults: killer.faults });
    makeVideo(desk.folder, 'talk.mp4', 6, ...MP4);
    killer.child = start(desk);
    killer.child.stdout?.resume();
    await expectKilled(killer.child);
    await expectWhole(desk, false);
  });

  // This is work of this machine alone, before the first request for a part or after the last one.
  const ownWork = [
    ['while it cuts', 'cutting', true],
    ['while it joins', 'joining', false],
  ] as const;
  it.each(ownWork)('%s', async (_name, end, cuts) => {
    const desk = await openMediaDesk();
    makeVideo(desk.folder, 'talk.mp4', 6, ...MP4);
    // With programs that work when the kill comes.
    const child = start(desk, process.env.PATH);
    const gone = expectKilled(child);
    for await (const doing of doingOf(child)) if (doing === end) child.kill('SIGKILL');
    await gone;
    await expectWhole(desk, cuts);
  });
});
