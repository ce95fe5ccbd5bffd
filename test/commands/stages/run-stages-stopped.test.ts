/** Stages that are stopped half way: by Ctrl-C, by a kill, for money, for time, by a failure. */
import { execFileSync, spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readOwnRecords } from '../../../src/batch/other-journals.ts';
import { main } from '../../../src/cli/main.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { testsOwnWork } from '../../service/harness/profiles.ts';
import { until } from '../../service/harness/scene.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { createTestIo } from '../../support/test-io.ts';
import { environmentOf } from '../support/run-vloc.ts';
import { type Staging, startStaging } from './staging.ts';

const WORDS = ['localize', 'talk.mp4', '--to', 'es', '--from-subtitles'];
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

const reach = (vloc: Staging, jobs: readonly number[]) =>
  until(vloc.jobs, (now) => JSON.stringify(now) === JSON.stringify(jobs));

describe('stages that were', () => {
  it('interrupted print the command that continues, which pays nothing twice', async () => {
    const vloc = await startStaging();
    vloc.engines.hold();
    const test = createTestIo({ cwd: vloc.folder, env: environment(vloc) });
    const running = main(WORDS, test.io);
    await reach(vloc, [1, 0, 0, 0]);
    test.send('SIGINT');
    expect(await running).toBe(130);
    expect(test.stderr()).toContain('0 of 1 done');
    expect(test.stderr()).toContain(`  vloc ${WORDS.join(' ')}\n`);
    vloc.engines.letGo();
    const { code, stderr } = await vloc.run(WORDS);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 1, 1, 1]);
  });

  it('interrupted report the state to programs, and their exit code', async () => {
    const vloc = await startStaging();
    vloc.engines.hold();
    for (const output of ['ndjson', 'json']) {
      const test = createTestIo({ cwd: vloc.folder, env: environment(vloc) });
      const running = main([...WORDS, '-o', output], test.io);
      await reach(vloc, [1, 0, 0, 0]);
      await until(
        async () => test.stderr() + test.stdout(),
        (told) => told.includes('talk.mp4'),
      );
      test.send('SIGTERM');
      expect(await running).toBe(143);
      if (output === 'ndjson') {
        const last = JSON.parse(test.stdout().trim().split('\n').at(-1) ?? '');
        expect(last).toMatchObject({ type: 'summary', left: 1, exit_code: 143 });
      } else expect(JSON.parse(test.stdout()).data).toHaveLength(1);
    }
    vloc.engines.letGo();
  });

  it.each([
    ['recognition', [1, 0, 0, 0], 0],
    ['the dub', [1, 1, 1, 1], 2],
  ])('killed during %s continue from there', async (_stage, jobs, before) => {
    const vloc = await startStaging();
    if (before > 0) await vloc.run([...WORDS, '--stop-after', 'translate']);
    vloc.engines.hold();
    const child = spawn(process.execPath, [ENTRY, ...WORDS], {
      cwd: vloc.folder,
      env: environment(vloc),
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    await reach(vloc, jobs);
    child.kill('SIGKILL');
    await once(child, 'exit');
    vloc.engines.letGo();
    const { code, stderr } = await vloc.run(WORDS);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 1, 1, 1]);
    expect(vloc.has('talk.es.mp4')).toBe(true);
  });

  it.each([
    ['after the recognition', 'talk.en.srt', [1, 0, 0, 0]],
    ['after the translation', 'talk.es.srt', [1, 1, 0, 0]],
    ['during the export', null, [1, 1, 1, 1]],
  ])('killed %s are unfinished, and `batch retry` makes the rest', async (_moment, subtitle, jobs) => {
    const vloc = await startStaging();
    const child = spawn(process.execPath, [ENTRY, ...WORDS], {
      cwd: vloc.folder,
      env: { ...environment(vloc), PATH: await deadlyPath(vloc) },
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    if (subtitle !== null) {
      // Nobody reads this pipe, so the run waits between the two stages.
      const pipe = join(vloc.folder, '.vloc/stages', `${hash('sha256', vloc.path(subtitle))}.part`);
      await mkdir(dirname(pipe), { recursive: true });
      execFileSync('mkfifo', [pipe]);
      await until(
        async () => (await readOwnRecords({ folder: vloc.path('.') })).stages.subtitles,
        (subtitles) => subtitles.has(subtitle),
      );
      child.kill('SIGKILL');
      await exit;
      await rm(pipe);
    }
    await exit;
    expect([child.signalCode, await vloc.jobs()]).toEqual(['SIGKILL', jobs]);
    const before = await vloc.run(['batch', 'status', '.', '-o', 'plain', '--fields', 'label,state']);
    expect([before.code, before.stdout]).toEqual([8, 'talk.mp4 → es\trunning\n']);
    const { code, stderr } = await vloc.run(['batch', 'retry', '.']);
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

  it('out of credits are reported before the next stage, and the rest runs with more', async () => {
    const vloc = await startStaging();
    const poor = await vloc.run([...WORDS, '--max-credits', '2']);
    expect(poor.code, poor.stderr).toBe(6);
    expect(poor.stderr).toContain('--max-credits');
    const [recognitions, , dubs] = await vloc.jobs();
    expect([recognitions, dubs]).toEqual([1, 0]);
    const { code, stderr } = await vloc.run([...WORDS, '--max-credits', '5']);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 1, 1, 1]);
  });

  it('out of credits at a gate write the results so far, and report that the rest was not started', async () => {
    const vloc = await startStaging();
    const words = ['localize', 'talk.mp4', '--to', 'es,fr', '--stop-after', 'translate', '--out', 'out'];
    // A minute is heard and two lines are translated; two more would be over it.
    const poor = await vloc.run([...words, '--max-credits', '4', '-o', 'json', '--jobs', '1']);
    expect(poor.code, poor.stderr).toBe(6);
    expect(poor.stderr).toContain('1 of 2 done, 1 not started');
    expect(poor.stderr).toContain('Review:     talk.en.srt, talk.es.srt');
    const [es, fr] = JSON.parse(poor.stdout).data;
    expect(es).toMatchObject({ status: 'succeeded', files: [{ path: vloc.path('talk.es.srt') }] });
    expect(fr).toMatchObject({ id: null, status: null, files: [] });
    expect((await vloc.run(words)).code).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 2, 0, 0]);
  });
});

describe('a video that fails', () => {
  it('in one stage is excluded from the next, and the others are finished', async () => {
    const vloc = await startStaging();
    await vloc.addVideo('other.mp4');
    vloc.engines.failNext(new JobFailure('NO_SPEECH_DETECTED', 'there is no speech'));
    const words = ['localize', 'talk.mp4', 'other.mp4', '--to', 'es', '--from-subtitles', '--jobs', '1'];
    const { code, stdout, stderr } = await vloc.run([...words, '-o', 'ndjson']);
    expect(code, stderr).toBe(3);
    expect(await vloc.jobs()).toEqual([2, 1, 1, 1]);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const files = events.filter(({ type }) => type === 'file');
    // Whichever is uploaded first is the one that fails.
    const [failed] = events.filter(({ type }) => type === 'failed');
    const finished = failed?.input === 'talk.mp4' ? 'other.es.mp4' : 'talk.es.mp4';
    expect(files.map(({ path }) => path)).toEqual([vloc.path(finished)]);
    expect(events.filter(({ type }) => type === 'summary')).toEqual([
      expect.objectContaining({ jobs: 2, done: 1, failed: 1, exit_code: 3 }),
    ]);
    expect(events.at(-1).type).toBe('summary');
  });

  it('is run again by `batch retry`, stage by stage and not as one job', async () => {
    const vloc = await startStaging({ config: { attempts: 1 } });
    vloc.engines.failNext(new JobFailure('SOURCE_UNREACHABLE', 'it did not answer'));
    expect((await vloc.run(WORDS)).code).toBe(5);
    const { code, stderr } = await vloc.run(['batch', 'retry', '.']);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([2, 1, 1, 1]);
    expect((await vloc.caller.get('/v1/auto-localizations')).json.data).toEqual([]);
  });
});

describe.runIf(testsOwnWork())('a dry run', () => {
  it('shows each stage and sends nothing', async () => {
    const vloc = await startStaging();
    await writeFile(vloc.path('talk.en.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
    const { code, stdout, stderr } = await vloc.run([...WORDS, '--dry-run', '-o', 'json']);
    expect(code, stderr).toBe(0);
    const { stages, jobs, results } = JSON.parse(stdout);
    expect(stages.map(({ kind }: { kind: string }) => kind)).toEqual([
      ...['subtitle_translation', 'dubbing', 'audio_separation'],
    ]);
    expect(jobs).toBe(3);
    expect(results).toEqual([vloc.path('talk.es.mp4')]);
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });
});
