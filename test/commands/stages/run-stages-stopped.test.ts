/** Stages that are stopped half way: by Ctrl-C, by a kill, for money, for time, by a failure. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOwnRecords } from '../../../src/batch/records/other-journals.ts';
import { main } from '../../../src/cli/main.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { until } from '../../service/harness/scene.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { createTestIo } from '../../support/test-io.ts';
import { environmentOf, linesOf } from '../support/run-vloc.ts';
import { type Staging, startStaging } from './staging.ts';

const WORDS = ['localize', 'talk.mp4', '--to', 'es', '--from-subtitles'];
const PRICES = ['--price', 'subtitle_recognition=1,subtitle_translation=1,dubbing=1,audio_separation=1'];
const ENTRY = fileURLToPath(new URL('../../cli/support/run.ts', import.meta.url));

const environment = (vloc: Staging) => ({
  PATH: rememberingPath(),
  ...environmentOf(vloc, vloc.folder),
});

/** Programs of which ffmpeg kills the run that wants to export the video. */
async function deadlyPath(vloc: Staging): Promise<string> {
  const folder = vloc.path('programs');
  await mkdir(folder);
  const script = `#!/bin/sh\ncase "$*" in *.mp4*) kill -9 $PPID ;; esac\nPATH='${rememberingPath()}' exec ffmpeg "$@"\n`;
  await writeFile(join(folder, 'ffmpeg'), script, { mode: 0o755 });
  return `${folder}:${rememberingPath()}`;
}

/** A run that can be killed. */
function startProcess(vloc: Staging, words: readonly string[], path = rememberingPath()): ChildProcess {
  const env = { ...environment(vloc), PATH: path };
  const child = spawn(process.execPath, [ENTRY, ...words], { cwd: vloc.folder, env, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

const reach = (vloc: Staging, jobs: readonly number[]) =>
  until(vloc.jobs, (now) => JSON.stringify(now) === JSON.stringify(jobs));

describe('stages that were', () => {
  it('interrupted print the command that continues, which pays nothing twice, and tell programs their state', async () => {
    const vloc = await startStaging();
    const words = [...WORDS, '--stop-after', 'translate'];
    vloc.engines.hold();
    for (const output of ['table', 'ndjson']) {
      const test = createTestIo({ cwd: vloc.folder, env: environment(vloc) });
      const running = main(output === 'table' ? words : [...words, '-o', output], test.io);
      await reach(vloc, [1, 0, 0, 0]);
      await until(() => (test.stderr() + test.stdout()).includes('talk.mp4'));
      test.send(output === 'table' ? 'SIGINT' : 'SIGTERM');
      expect(await running).toBe(output === 'table' ? 130 : 143);
      if (output === 'table') {
        expect(test.stderr()).toContain('0 of 1 done');
        expect(test.stderr()).toContain(`  vloc ${words.join(' ')}\n`);
      } else {
        const last = JSON.parse(test.stdout().trim().split('\n').at(-1) ?? '');
        expect(last).toMatchObject({ type: 'summary', left: 1, exit_code: 143 });
      }
    }
    vloc.engines.letGo();
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
  });

  it('killed after the recognition and during the export are unfinished, and `batch retry` makes the rest', async () => {
    const vloc = await startStaging();
    const path = await deadlyPath(vloc);
    const retry = ['batch', 'retry', '.'];
    for (const [words, subtitle, jobs] of [
      [WORDS, 'talk.en.srt', [1, 0, 0, 0]],
      [retry, null, [1, 1, 1, 1]],
    ] as const) {
      // Nobody reads this pipe, so the run waits between the two stages.
      const pipe =
        subtitle && join(vloc.folder, '.vloc/stages', `${hash('sha256', vloc.path(subtitle))}.part`);
      if (pipe !== null) {
        await mkdir(dirname(pipe), { recursive: true });
        execFileSync('mkfifo', [pipe]);
      }
      const child = startProcess(vloc, words, path);
      const exit = once(child, 'exit');
      const made = jobs.filter((count) => count > 0).length;
      if (subtitle !== null) {
        await until(
          async () => [...(await readOwnRecords({ folder: vloc.path('.') })).attempts.byKey.values()],
          (attempts) => attempts.filter(({ state }) => state === 'downloaded').length === made,
        );
        child.kill('SIGKILL');
      }
      await exit;
      if (pipe !== null) await rm(pipe);
      expect([child.signalCode, await vloc.jobs()]).toEqual(['SIGKILL', jobs]);
      const status = await vloc.run(['batch', 'status', '.', '-o', 'plain', '--fields', 'label,state']);
      expect([status.code, status.stdout]).toEqual([8, 'talk.mp4 → es\trunning\n']);
    }
    const { code, stderr } = await vloc.run(retry);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 1, 1, 1]);
    expect(vloc.has('talk.es.mp4')).toBe(true);
    expect((await vloc.run(['batch', 'status', '.'])).code).toBe(0);
  });

  it('killed before a subtitle was on the disk write it then, from the fetched data', async () => {
    const vloc = await startStaging();
    const words = ['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'translate'];
    await vloc.run(words);
    // The record is written first, so this is how a kill between the two leaves the folder.
    await rm(vloc.path('talk.es.srt'));
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(0);
    expect(vloc.read('talk.es.srt')).toContain('GOOD MORNING');
    expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
  });

  it('out of credits at a gate write the results so far, and report that the rest was not started', async () => {
    const vloc = await startStaging();
    const words = ['localize', 'talk.mp4', '--to', 'es,fr', '--stop-after', 'translate', '--out', 'out'];
    // A minute is heard and two lines are translated; two more would be over it.
    const poor = await vloc.run([...words, ...PRICES, '--max-credits', '4', '-o', 'json', '--jobs', '1']);
    expect(poor.code, poor.stderr).toBe(6);
    expect(poor.stderr).toContain('1 of 2 done, 1 not started');
    const items = JSON.parse(poor.stdout).data;
    // Whichever is ready first after the recognition is the one that is translated.
    const [done, left] = items[0].status === null ? items.toReversed() : items;
    const name = `talk.${done.target_language}.srt`;
    expect(poor.stderr).toContain(`Review:     talk.en.srt\n            ${name}\n`);
    expect(done).toMatchObject({ status: 'succeeded', files: [{ path: vloc.path(name) }] });
    expect(left).toMatchObject({ id: null, status: null, files: [] });
    expect((await vloc.run(words)).code).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 2, 0, 0]);
  });
});

describe('a video that fails', () => {
  it('in one stage is excluded from the next, and the others are finished', async () => {
    const vloc = await startStaging();
    await vloc.addVideo('other.mp4');
    vloc.engines.failNext(new JobFailure('NO_SPEECH_DETECTED', 'there is no speech'));
    const words = [
      'localize',
      'talk.mp4',
      'other.mp4',
      '--to',
      'es',
      '--stop-after',
      'translate',
      '--jobs',
      '1',
    ];
    const { code, stdout, stderr } = await vloc.run([...words, '-o', 'ndjson']);
    expect(code, stderr).toBe(3);
    expect(await vloc.jobs()).toEqual([2, 1, 0, 0]);
    const events = linesOf(stdout);
    const files = events.filter(({ type }) => type === 'file');
    // Whichever is uploaded first is the one that fails.
    const [failed] = events.filter(({ type }) => type === 'failed');
    const finished = failed?.input === 'talk.mp4' ? 'other.es.srt' : 'talk.es.srt';
    expect(files.map(({ path }) => path)).toEqual([vloc.path(finished)]);
    expect(events.filter(({ type }) => type === 'summary')).toEqual([
      expect.objectContaining({ jobs: 2, done: 1, failed: 1, exit_code: 3 }),
    ]);
    expect(events.at(-1).type).toBe('summary');
  });
});
