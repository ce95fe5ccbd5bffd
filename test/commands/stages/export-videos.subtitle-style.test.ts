import { readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { startStaging, streamsOf } from './staging.ts';

const BURNED = [
  'localize',
  'talk.mp4',
  '--to',
  'es',
  '--from',
  'en',
  '--from-subtitles',
  '--subtitle-output',
  'burned',
];

it('a changed style or a second language burned in exports the video again and pays nothing, and the same does nothing', async () => {
  const vloc = await startStaging();
  writeFileSync(vloc.path('house.json'), '{"extends":"box","size":8}');
  const video = async (...words: string[]) => {
    const ended = await vloc.run([...BURNED, ...words]);
    expect(ended.code, ended.stderr).toBe(0);
    expect(streamsOf(vloc.path('talk.es.mp4'))).toEqual(['h264', 'aac']);
    return readFileSync(vloc.path('talk.es.mp4'));
  };
  const plain = await video();
  const jobs = await vloc.jobs();
  const styled = await video('--subtitle-style', 'house.json');
  expect(styled.equals(plain)).toBe(false);
  expect((await video('--subtitle-style', 'house.json')).equals(styled)).toBe(true);
  // The file counts, not its name.
  writeFileSync(vloc.path('house.json'), '{"extends":"box","size":12}');
  const large = await video('--subtitle-style', 'house.json');
  expect(large.equals(styled)).toBe(false);
  const above = await video('--subtitle-style', 'house.json', '--bilingual', 'above');
  const below = await video('--subtitle-style', 'house.json', '--bilingual', 'below');
  expect([above.equals(large), below.equals(large), below.equals(above)]).toEqual([false, false, false]);
  expect(await vloc.jobs()).toEqual(jobs);
});
