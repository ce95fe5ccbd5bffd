import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { until } from '../../service/harness/scene.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { digestOf } from '../stages/staging.ts';
import { openInbox, subtitlesOf, untilTold, WATCHING } from '../support/open-inbox.ts';
import { startWatch } from '../support/start-watch.ts';
import { tmx } from '../support/tmx.ts';

describe('a watching job command', () => {
  it('processes existing and new files of two folders, but not two of one name nor trash and snapshots, and is ended by Ctrl-C with the command that continues', async () => {
    const scene = await openInbox();
    for (const name of ['inbox2', 'inbox/@eaDir']) await mkdir(join(scene.folder, name));
    for (const name of ['@eaDir/first.srt', 'first.srt']) await scene.put(name);
    const [, , ...options] = WATCHING;
    const words = ['translate', 'inbox', 'inbox2', ...options];
    const watch = await startWatch(scene, words);
    watch.goOn();
    await untilTold(watch, 'first.es.srt');
    for (const name of ['#snapshot', 'week1']) await mkdir(join(scene.folder, 'inbox', name));
    await scene.put('#snapshot/other.srt');
    // Somebody copies the same file once more.
    await scene.put('first.srt');
    await scene.put('week1/second.srt');
    await untilTold(watch, 'week1/second.es.srt');
    await writeFile(join(scene.folder, 'inbox2', 'first.srt'), subtitlesOf('another'));
    await writeFile(join(scene.folder, 'inbox2', 'third.srt'), subtitlesOf('third'));
    await untilTold(watch, 'third.es.srt');
    await untilTold(watch, 'Skipped: inbox2/first.srt → es: has the same name as inbox/first.srt → es');
    const { code, stdout, stderr } = await watch.stop();
    expect(code).toBe(130);
    expect(stderr).toContain('Stopped watching: 3 done.');
    expect(stderr).toContain(`Continue with:\n  vloc ${words.join(' ')}\n`);
    expect(stdout).toMatch(/out\/first\.es\.srt.*out\/week1\/second\.es\.srt.*out\/third\.es\.srt/s);
    expect(await scene.countJobs()).toBe(3);
    expect(stderr.match(/^Skipped folders.*$/gm)).toEqual([
      'Skipped folders of trash, snapshots or the system: @eaDir. To use one, name it.',
    ]);
  });

  it('says which finished translations the memory has newer', async () => {
    const scene = await openInbox();
    await scene.put('first.srt', 'Good morning.');
    expect((await scene.run(WATCHING.slice(0, -1))).code).toBe(0);
    await writeFile(join(scene.folder, 'team.tmx'), tmx(['Good morning.', 'BUENOS DÍAS.']));
    await scene.run(['memory', 'import', 'team.tmx', '--memory', 'out/.vloc/memory.db']);
    const watch = await scene.watch();
    watch.goOn();
    await untilTold(watch, 'the memory has newer translations of 1 line (es); --clobber');
  });

  it('writes with --provenance that of each result when it is there, and never over a file of the user', async () => {
    const scene = await openInbox();
    const words = ['localize', 'inbox', '--to', 'es', '--out', 'out', '--watch', '--provenance'];
    const at = (name: string) => join(scene.folder, name);
    await mkdir(at('out'));
    await writeFile(at('out/second.es.provenance.json'), 'mine');
    const watch = await startWatch(scene, words);
    watch.goOn();
    await writeFile(at('inbox/first.mp4'), videoOf(1));
    await until(() => existsSync(at('out/first.es.provenance.json')), Boolean);
    const video = at('out/first.es.mp4');
    expect((await readProvenance(video))?.result.sha256).toBe(digestOf(video));
    await writeFile(at('inbox/second.mp4'), videoOf(2));
    await untilTold(watch, 'second.es.provenance.json');
    expect((await watch.stop()).code).toBe(130);
    expect(readFileSync(at('out/second.es.provenance.json'), 'utf8')).toBe('mine');
    expect(existsSync(at('out/second.es.mp4'))).toBe(true);
  });

  it('processes a file that changes while it is processed again afterwards, but replaces no edited result', async () => {
    const scene = await openInbox();
    scene.engines.hold();
    await scene.put('talk.srt', 'one');
    const watch = await scene.watch();
    watch.goOn();
    await until(scene.countJobs, (jobs) => jobs === 1);
    await scene.put('talk.srt', 'two');
    const before = watch.looks();
    await until(watch.looks, (looks) => looks > before + 5);
    expect(await scene.countJobs()).toBe(1);
    scene.engines.letGo();
    await scene.untilResult('talk.es.srt', 'two');
    await writeFile(join(scene.folder, 'out', 'talk.es.srt'), 'edited');
    await scene.put('talk.srt', 'two again');
    await untilTold(watch, 'Skipped: inbox/talk.srt → es: its input changed since');
    const { stdout } = await watch.stop();
    expect(stdout.split('inbox/talk.srt')).toHaveLength(2);
    expect(await scene.countJobs()).toBe(2);
  });
});
