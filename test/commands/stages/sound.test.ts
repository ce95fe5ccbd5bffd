import { expect, it } from 'vitest';
import { makeSound, readSound, TAGS } from '../../support/sounds.ts';
import { startStaging } from './staging.ts';

it('an episode is localized in stages, with subtitles to edit, and comes back in its format', async () => {
  const { run, path, has, folder } = await startStaging();
  makeSound(folder, 'episode.mp3', 2);
  const { code, stderr } = await run(['localize', 'episode.mp3', '--to', 'es', '--from-subtitles']);
  expect(code, stderr).toBe(0);
  expect([has('episode.en.srt'), has('episode.es.srt')]).toEqual([true, true]);
  expect(readSound(path('episode.es.mp3'))).toMatchObject({
    ...{ container: 'mp3', codec: 'mp3', chapters: ['0.0 One', '1.0 Two'], covers: 1, tags: TAGS },
  });
});
