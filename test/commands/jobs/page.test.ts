/** The commands of docs/long-and-odd-videos.md for podcasts and for one file are accepted as the page shows them; runs like them are in sound and one-file. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { makeSound } from '../../support/sounds.ts';
import { startStaging } from '../stages/staging.ts';

const PAGE = readFileSync(new URL('../../../docs/long-and-odd-videos.md', import.meta.url), 'utf8');
const SECTIONS = ['Podcasts and other sound', 'All languages in one file'];

test('the commands for podcasts and for one file are accepted', async () => {
  const vloc = await startStaging();
  makeSound(vloc.folder, 'episode.mp3');
  for (const title of SECTIONS) {
    const section = PAGE.split('\n## ').find((each) => each.startsWith(title)) ?? '';
    const commands = [...section.matchAll(/^vloc ([^#\n]+)/gm)].map(([, words = '']) =>
      words.trim().split(' '),
    );
    for (const words of commands) {
      const { code, stderr } = await vloc.run([...words, '--dry-run']);
      expect(code, stderr).toBe(0);
    }
    expect(commands.length).toBeGreaterThan(0);
  }
});
