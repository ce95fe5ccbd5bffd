/** Killed at each step of the interface, the next run ends as if nothing had happened. Source: reliability, 3.1. */
import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createKiller, endWithTest, expectKilled } from '../../commands/support/killed-vloc.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { bundleScript } from '../../support/bundled.ts';
import { isInService, KILL_POINTS } from './support/kill-points.ts';
import { OWN_RUN } from './support/own-run.ts';
import { type Stage, startStage } from './support/stage.ts';

/** The folder of results: names and contents. */
async function readResults({ out }: Stage): Promise<Record<string, string>> {
  const names = (await readdir(out)).filter((name) => name !== '.vloc').sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(out, name), 'utf8')] as const)),
  );
}

describe('a run that is killed', () => {
  it.each(KILL_POINTS)('%s', async (_name, point) => {
    const killer = createKiller({
      at: isInService(point) ? point.at : 'arrival',
      isMeant: (method, url) =>
        isInService(point) && point.method === method && new RegExp(point.path).test(url.split('?')[0] ?? ''),
    });
    const stage = await startStage({ faults: killer.faults });
    const languages = ['es', 'fr'];
    const items = await stage.video('talk.mp4', 30, languages);
    const video = join(stage.folder, 'talk.mp4');
    const run = stage.ownRun({ video, languages, ...(isInService(point) ? {} : { point }) });
    const words = [await bundleScript(OWN_RUN), JSON.stringify(run)];
    killer.child = endWithTest(spawn(process.execPath, words, { stdio: ['ignore', 'ignore', 'inherit'] }));
    await expectKilled(killer.child);

    const { phases } = await stage.run(items);
    expect(phases).toEqual(['done', 'done']);
    const { jobs, charged, reserved } = await stage.books();
    expect({ jobs, charged, reserved }).toEqual({ jobs: 2, charged: 2, reserved: 0 });
    expect(await stage.statesOfAttempts()).toEqual(['downloaded', 'downloaded']);
    const whole = videoOf(30).toString();
    expect(await readResults(stage)).toEqual({ 'talk.es.mp4': whole, 'talk.fr.mp4': whole });
  });
});
