/** Killed at each step of the interface, the next run ends as if nothing had happened. Source: reliability, 3.1. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Faults } from '../../../src/service/index.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { bundleScript } from '../../support/bundled.ts';
import { isAt, KILL_POINTS, type KilledRun, type KillPoint } from './support/kill-points.ts';
import { type Stage, startStage } from './support/stage.ts';

/** Kills the run when a request is at the point; nobody is answered then. */
function killer(point: KillPoint): Faults & { child: ChildProcess | null } {
  const state: { child: ChildProcess | null } = { child: null };
  const kill = async () => {
    const { child } = state;
    state.child = null;
    if (child === null) return null;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    return 'drop' as const;
  };
  return Object.assign(state, {
    before: async (request: Parameters<Faults['before']>[0]) =>
      isAt(point, 'arrival', request) ? kill() : null,
    after: async (...[request, answer]: Parameters<Faults['after']>) =>
      (isAt(point, 'execution', request) ? await kill() : null) ?? answer,
  });
}

async function start(run: KilledRun): Promise<ChildProcess> {
  const script = await bundleScript(join(import.meta.dirname, 'support', 'killed-run.ts'));
  const child = spawn(process.execPath, [script, JSON.stringify(run)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** The folder of results: names and contents. */
async function readResults({ out }: Stage): Promise<Record<string, string>> {
  const names = (await readdir(out)).filter((name) => name !== '.vloc').sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(out, name), 'utf8')] as const)),
  );
}

describe('a run that is killed', () => {
  it.each(KILL_POINTS)('%s', async (_name, point) => {
    const faults = killer(point);
    const stage = await startStage({ faults });
    const items = await stage.video('talk.mp4', 30, ['es', 'fr']);
    const child = await start({
      baseUrl: stage.service.url,
      credentials: stage.credentials,
      stateDir: join(stage.folder, 'state'),
      out: stage.out,
      video: join(stage.folder, 'talk.mp4'),
      lines: 0,
      point,
    });
    const gone = once(child, 'exit');
    faults.child = child;
    const [, signal] = await gone;
    expect(signal).toBe('SIGKILL');

    const { phases } = await stage.run(items);
    expect(phases).toEqual(['done', 'done']);
    const { jobs, charged, reserved } = await stage.books();
    expect({ jobs, charged, reserved }).toEqual({ jobs: 2, charged: 2, reserved: 0 });
    expect(await stage.statesOfAttempts()).toEqual(['downloaded', 'downloaded']);
    const video = videoOf(30).toString();
    expect(await readResults(stage)).toEqual({ 'talk.es.mp4': video, 'talk.fr.mp4': video });
  });
});
