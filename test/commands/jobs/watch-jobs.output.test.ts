import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { until } from '../../service/harness/scene.ts';
import { openInbox, untilTold } from '../support/open-inbox.ts';

describe('the output of a watch', () => {
  it('fails an unusable file, skips files with other names, and continues', async () => {
    const scene = await openInbox();
    await writeFile(join(scene.folder, 'inbox', 'broken.srt'), 'no subtitles');
    await writeFile(join(scene.folder, 'inbox', 'notes.txt'), 'no subtitles');
    const watch = await scene.watch(['-o', 'ndjson']);
    watch.goOn();
    await untilTold(watch, 'inbox/broken.srt → es: not usable as subtitles');
    await untilTold(watch, 'Skipped: inbox/notes.txt: ');
    await writeFile(join(scene.folder, 'inbox', 'notes.txt'), 'no subtitles');
    await scene.put('good.srt');
    await untilTold(watch, 'good.es.srt');
    const { stdout, stderr } = await watch.stop();
    expect(stderr.split('Skipped:')).toHaveLength(2);
    const lines = stdout.trim().split('\n');
    const events = lines.map((line) => JSON.parse(line));
    expect(events.filter(({ type }) => type === 'left_out')).toMatchObject([
      { input: 'inbox/notes.txt', message: expect.stringMatching(/\w/) },
    ]);
    const failed = events.filter(({ type }) => type === 'failed');
    expect(failed).toMatchObject([{ input: 'inbox/broken.srt', code: 'NOT_USABLE' }]);
    expect(events.at(-1)).toMatchObject({ type: 'summary', jobs: 2, done: 1, failed: 1, exit_code: 130 });
  });

  it('writes each result when it is finished if the form is one line each', async () => {
    const scene = await openInbox();
    const watch = await scene.watch(['-o', 'plain']);
    watch.goOn();
    await scene.put('a.srt');
    await until(watch.stdout, (written) => written === `${join(scene.folder, 'out', 'a.es.srt')}\n`);
    await watch.stop();
    await scene.put('b.srt');
    const again = await scene.watch(['-o', 'plain']);
    again.goOn();
    await until(again.stdout, (written) => written.includes('\n'));
    expect((await again.stop()).stdout).toBe(`${join(scene.folder, 'out', 'b.es.srt')}\n`);
  });
});
