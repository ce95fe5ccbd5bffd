/** The lines of a run before and after its work, as a user sees them. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { videoOf } from '../../service/harness/small-engines.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { createTestIo } from '../../support/test-io.ts';
import { startStaging } from '../stages/staging.ts';
import { QUICK, startVloc } from '../support/run-vloc.ts';

it('the number of videos is printed before the first of them is examined', async () => {
  const vloc = await startVloc();
  for (const name of ['a.mp4', 'b.mp4']) await writeFile(join(vloc.folder, name), videoOf(3));
  const tools = makeFolder();
  const seen = join(tools, 'seen');
  // In place of ffprobe, it leaves a trace when it is called.
  await writeFile(join(tools, 'ffprobe'), `#!/bin/sh\necho probed >> ${seen}\nexit 1\n`, { mode: 0o755 });
  const env = { ...vloc.env, PATH: tools };
  const test = createTestIo({ cwd: vloc.folder, pace: QUICK, env });
  const before: boolean[] = [];
  const write = test.io.stderr.write.bind(test.io.stderr);
  Object.assign(test.io.stderr, {
    write: (text: string) => {
      if (text.startsWith('Reading')) before.push(existsSync(seen));
      return write(text);
    },
  });
  await main(['separate', 'a.mp4', 'b.mp4', '--dry-run'], test.io);
  expect(test.stderr()).toMatch(/^Reading 2 videos\.\.\.\n/);
  expect([before, existsSync(seen)]).toEqual([[false], true]);
});

it.each([
  ['a person', {}, true],
  ['a CI system', { CI: 'true' }, false],
])('the next steps are for %s', async (_who, env, isShown) => {
  const vloc = await startVloc();
  await writeFile(join(vloc.folder, 'a.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const words = ['translate', 'a.srt', '--from', 'en', '--to', 'es'];
  const first = await vloc.run(words, { env });
  expect(first.code, first.stderr).toBe(0);
  expect(first.stderr.includes('Start over (charged again)')).toBe(isShown);
  expect(first.stderr.includes('The download link expires on')).toBe(isShown);
  const again = await vloc.run(words, { env });
  expect(again.stderr).toContain('Nothing to do: the result exists.\n');
  expect(again.stderr).not.toContain('Start over');
});

it('long lines are broken at words on a terminal, and commands are not', async () => {
  const vloc = await startVloc();
  const env = vloc.env;
  const name = `${'lesson '.repeat(8)}.srt`;
  await writeFile(join(vloc.folder, name), 'nothing that could be subtitles');
  const test = createTestIo({ cwd: vloc.folder, pace: QUICK, env });
  Object.assign(test.io.stderr, { isTTY: true, columns: 60 });
  expect(await main(['translate', name, '--from', 'en', '--to', 'es', '--color', 'never'], test.io)).toBe(2);
  const rows = test.stderr().trimEnd().split('\n');
  expect(Math.max(...rows.map((row) => row.length))).toBeLessThanOrEqual(60);
  expect(rows.join(' ').replace(/\s+/g, ' ')).toContain('expected a number and times such as');
});

describe('at 40 columns', () => {
  const plan = async (env: Record<string, string>, cwd: string, words: readonly string[]) => {
    const test = createTestIo({ cwd, pace: QUICK, env });
    Object.assign(test.io.stdout, { isTTY: true, columns: 40 });
    expect(await main([...words, '--dry-run', '--color', 'never'], test.io), test.stderr()).toBe(0);
    return test.stdout();
  };

  it('the plan of stages names its input, stage, language and state', async () => {
    const vloc = await startStaging();
    await vloc.addVideo('videos/example-talk.mp4');
    const env = { ...vloc.env, PATH: rememberingPath() };
    const words = ['localize', 'videos', '--to', 'es', '--stop-after', 'translate'];
    const shown = await plan(env, vloc.folder, words);
    for (const cell of ['videos/example-talk.mp4', 'recognize', 'translate', 'es', 'new', '1 started minute'])
      expect(shown).toContain(cell);
  });
});
