import { mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { until } from '../../service/harness/scene.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { digestOf, startStaging } from '../stages/staging.ts';
import { openInbox, subtitlesOf, untilTold, WATCHING } from '../support/open-inbox.ts';
import { startWatch } from '../support/start-watch.ts';
import { tmx } from '../support/tmx.ts';

describe('a watching job command', () => {
  it('processes existing and new files, and is ended by Ctrl-C with the command that continues', async () => {
    const scene = await openInbox();
    await scene.put('first.srt');
    const watch = await scene.watch();
    watch.goOn();
    await untilTold(watch, 'first.es.srt');
    await mkdir(join(scene.folder, 'inbox', 'week1'));
    // Somebody copies the same file once more.
    await scene.put('first.srt');
    await scene.put('week1/second.srt');
    await untilTold(watch, 'week1/second.es.srt');
    const { code, stdout, stderr } = await watch.stop();
    expect(code).toBe(130);
    expect(stderr).toContain('Stopped watching: 2 done.');
    expect(stderr).toContain(`Continue with:\n  vloc ${WATCHING.join(' ')}\n`);
    expect(stdout).toMatch(/out\/first\.es\.srt.*out\/week1\/second\.es\.srt/s);
    expect(await scene.countJobs()).toBe(2);
  });

  it('says which finished translations the memory has newer, and has them with --clobber', async () => {
    const scene = await openInbox();
    await scene.put('first.srt', 'Good morning.');
    const first = await scene.watch();
    first.goOn();
    await scene.untilResult('first.es.srt');
    await first.stop();
    await writeFile(join(scene.folder, 'team.tmx'), tmx(['Good morning.', 'BUENOS DÍAS.']));
    await scene.run(['memory', 'import', 'team.tmx', '--memory', 'out/.vloc/memory.db']);
    const second = await scene.watch();
    second.goOn();
    await untilTold(second, 'the memory has newer translations of 1 line (es); --clobber');
    await second.stop();
    const third = await scene.watch(['--clobber']);
    third.goOn();
    await scene.untilResult('first.es.srt', 'BUENOS DÍAS.');
    await third.stop();
    expect(await scene.countJobs()).toBe(1);
  });

  it('writes with --provenance that of each result when it is there, and never over a file of the user', async () => {
    const vloc = await startStaging();
    const env = { PATH: rememberingPath(), ...vloc.env };
    await mkdir(vloc.path('inbox'));
    const words = ['localize', 'inbox', '--to', 'es', '--out', 'out', '--watch', '--provenance'];
    const watch = await startWatch({ ...vloc, env }, words);
    watch.goOn();
    await vloc.addVideo('inbox/first.mp4');
    await until(() => vloc.has('out/first.es.provenance.json'), Boolean);
    const video = vloc.path('out/first.es.mp4');
    expect((await readProvenance(video))?.result.sha256).toBe(digestOf(video));
    await writeFile(vloc.path('out/second.es.provenance.json'), 'mine');
    await vloc.addVideo('inbox/second.mp4');
    await untilTold(watch, 'second.es.provenance.json');
    expect((await watch.stop()).code).toBe(130);
    expect(vloc.read('out/second.es.provenance.json')).toBe('mine');
    expect(vloc.has('out/second.es.mp4')).toBe(true);
  });

  it('skips folders of trash and snapshots with one note, also those that appear later', async () => {
    const scene = await openInbox();
    for (const name of ['@eaDir', 'week1/#recycle', 'week2']) {
      await mkdir(join(scene.folder, 'inbox', name), { recursive: true });
      await scene.put(`${name}/a.srt`);
    }
    const watch = await scene.watch();
    watch.goOn();
    await scene.untilResult('week2/a.es.srt');
    await mkdir(join(scene.folder, 'inbox', '#snapshot'));
    for (const name of ['#snapshot/b.srt', 'b.srt']) await scene.put(name);
    await scene.untilResult('b.es.srt');
    const { stderr } = await watch.stop();
    expect(await scene.countJobs()).toBe(2);
    expect(stderr.match(/^Skipped folders.*$/gm)).toEqual([
      'Skipped folders of trash, snapshots or the system: #recycle, @eaDir. To use one, name it.',
    ]);
  });

  it('continues where it was when it is started again: nothing is sent twice, and running jobs are waited for', async () => {
    const scene = await openInbox();
    await scene.put('done.srt');
    const first = await scene.watch(['-o', 'ndjson']);
    first.goOn();
    await scene.untilResult('done.es.srt');
    scene.engines.hold();
    await scene.put('running.srt');
    await until(first.stdout, (lines) => lines.split('"type":"created"').length === 3);
    const { stderr } = await first.stop();
    expect(stderr).toContain('1 running');
    scene.engines.letGo();
    await scene.put('new.srt');
    const second = await scene.watch(['-o', 'ndjson']);
    second.goOn();
    await scene.untilResult('running.es.srt');
    await scene.untilResult('new.es.srt');
    const { stdout } = await second.stop();
    expect(await scene.countJobs()).toBe(3);
    const created = stdout.split('\n').filter((line) => line.includes('"type":"created"'));
    expect(created).toEqual([expect.stringContaining('new.srt')]);
  });

  it('makes a new job of a file that has changed since, and replaces an edited result only with --clobber', async () => {
    const scene = await openInbox();
    await scene.put('talk.srt', 'one');
    const watch = await scene.watch();
    watch.goOn();
    await scene.untilResult('talk.es.srt', 'one');
    await scene.put('talk.srt', 'two');
    await scene.untilResult('talk.es.srt', 'two');
    await watch.stop();
    expect(await scene.countJobs()).toBe(2);
    await writeFile(join(scene.folder, 'out', 'talk.es.srt'), 'edited');
    await scene.put('talk.srt', 'two again');
    const refusing = await scene.watch();
    refusing.goOn();
    await untilTold(refusing, 'Skipped: inbox/talk.srt → es: its input changed since');
    await refusing.stop();
    expect(await scene.countJobs()).toBe(2);
    const allowed = await scene.watch(['--clobber']);
    allowed.goOn();
    await scene.untilResult('talk.es.srt', 'two again');
    await allowed.stop();
    expect(await scene.countJobs()).toBe(3);
  });

  it('processes a file that changes while it is processed again afterwards', async () => {
    const scene = await openInbox();
    scene.engines.hold();
    await scene.put('talk.srt', 'one');
    const watch = await scene.watch(['--clobber']);
    watch.goOn();
    await until(scene.countJobs, (jobs) => jobs === 1);
    await scene.put('talk.srt', 'two');
    const before = watch.looks();
    await until(watch.looks, (looks) => looks > before + 5);
    expect(await scene.countJobs()).toBe(1);
    scene.engines.letGo();
    await scene.untilResult('talk.es.srt', 'two');
    expect(await scene.countJobs()).toBe(2);
    const { stdout } = await watch.stop();
    expect(stdout.split('inbox/talk.srt')).toHaveLength(2);
  });

  it('leaves a folder that works with the batch commands, including retry', async () => {
    const scene = await openInbox();
    scene.engines.failNext(new JobFailure('SUBTITLE_INVALID', 'it cannot be read'));
    await scene.put('a.srt');
    const watch = await scene.watch();
    watch.goOn();
    await untilTold(watch, 'it cannot be read');
    await scene.put('b.srt');
    await untilTold(watch, 'b.es.srt');
    await watch.stop();
    // The change does not affect the item that is run again.
    await scene.put('b.srt', 'changed');
    const status = async () => {
      const { stdout } = await scene.run(['batch', 'status', 'out', '-o', 'json']);
      return JSON.parse(stdout);
    };
    expect((await status()).counts).toMatchObject({ done: 1, failed: 1 });
    const retried = await scene.run(['batch', 'retry', 'out', '--all']);
    expect(retried.code, retried.stderr).toBe(0);
    expect((await status()).counts).toMatchObject({ done: 2, failed: 0 });
    expect((await stat(join(scene.folder, 'out', 'a.es.srt'))).size).toBeGreaterThan(0);
  });

  it('processes files of two folders, but not two of one name', async () => {
    const scene = await openInbox();
    await mkdir(join(scene.folder, 'inbox2'));
    const [, , ...options] = WATCHING;
    await scene.put('a.srt');
    const watch = await startWatch(scene, ['translate', 'inbox', 'inbox2', ...options]);
    watch.goOn();
    await scene.untilResult('a.es.srt');
    await writeFile(join(scene.folder, 'inbox2', 'a.srt'), subtitlesOf('another'));
    await writeFile(join(scene.folder, 'inbox2', 'b.srt'), subtitlesOf('b'));
    await scene.untilResult('b.es.srt');
    await untilTold(watch, 'Skipped: inbox2/a.srt → es: has the same name as inbox/a.srt → es');
    await watch.stop();
    expect(await readdir(join(scene.folder, 'out'))).toEqual(['.vloc', 'a.es.srt', 'b.es.srt']);
  });
});
