/** The embedded service without an engine for one of several languages: the others run. */
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { secondClip } from '../../service/media/studio.ts';
import { openModelsDesk } from '../models/desk.ts';

const LOCAL = ['--profile', 'local', '--out', 'out'];
const SRT = '1\n00:00:00,000 --> 00:00:01,000\nGood morning.\n';

it('plans the others, as jobs and in stages, and says of the language what would do it; alone it is an error before anything is recorded', async () => {
  const desk = await openModelsDesk();
  await writeFile(join(desk.folder, 'talk.srt'), SRT);
  secondClip(desk.folder, 'talk.mp4');
  const words = (input: string, to: string, ...more: string[]) => [
    ...[
      input === 'talk.srt' ? 'translate' : 'localize',
      input,
      '--from',
      'en',
      '--to',
      to,
      ...LOCAL,
      ...more,
    ],
  ];
  const staged = ['--source-subtitle', 'talk.srt', '--stop-after', 'translate'];
  for (const plan of [words('talk.srt', 'es,ja'), words('talk.mp4', 'es,ja', ...staged)]) {
    const { code, stdout, stderr } = await desk.call([...plan, '--dry-run', '-o', 'json']);
    expect(code, stderr).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ jobs: 1 });
    expect(stdout).toMatch(/English cannot be translated to Japanese here.*vloc engines add/);
  }
  const alone = await desk.call(words('talk.srt', 'ja'));
  expect([alone.code, existsSync(join(desk.folder, 'out'))]).toEqual([2, false]);
});
