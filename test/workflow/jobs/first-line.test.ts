/** The lines of a run before and after its work, as a user sees them. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeFolder, startVloc } from '../../commands/support/run-vloc.ts';
import { videoOf } from '../../service/harness/small-engines.ts';

it('the number of videos is printed before the first of them is examined', async () => {
  const vloc = await startVloc();
  for (const name of ['a.mp4', 'b.mp4']) await writeFile(join(vloc.folder, name), videoOf(3));
  const tools = await makeFolder();
  const seen = join(tools, 'seen');
  // A program in place of ffprobe that never sees a file before the line: it writes when it is called.
  await writeFile(join(tools, 'ffprobe'), `#!/bin/sh\necho probed >> ${seen}\nexit 1\n`, { mode: 0o755 });
  const { stderr } = await vloc.run(['separate', 'a.mp4', 'b.mp4'], { env: { PATH: tools } });
  expect(stderr).toMatch(/^Reading 2 videos\.\.\.\n/);
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
