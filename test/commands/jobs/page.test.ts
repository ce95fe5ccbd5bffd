/** The commands of docs/long-and-odd-videos.md for podcasts and for one file run as the page shows them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeSound } from '../../support/sounds.ts';
import { startStaging } from '../stages/staging.ts';

const PAGE = readFileSync(new URL('../../../docs/long-and-odd-videos.md', import.meta.url), 'utf8');
const SECTIONS = ['Podcasts and other sound', 'All languages in one file'];

test.each(SECTIONS)('%s', { timeout: 240_000 }, async (title) => {
  const section = PAGE.split('\n## ').find((each) => each.startsWith(title)) ?? '';
  const commands = [...section.matchAll(/^vloc ([^#\n]+)/gm)].map(([, words = '']) =>
    words.trim().split(' '),
  );
  const vloc = await startStaging();
  makeSound(vloc.folder, 'episode.mp3');
  for (const words of commands) {
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(0);
  }
  expect(commands.length).toBeGreaterThan(0);
});
