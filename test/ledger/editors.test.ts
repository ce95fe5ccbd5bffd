/** What --dry-run says of the commands of editors and of owners of videos is what a minimal hosted service charges them. */
import { copyFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openMinimal } from '../hosted/run-hosted.ts';
import type { StoredJob } from '../hosted/shapes.ts';
import { rememberingPath } from '../support/remembered-programs.ts';
import { makeSound } from '../support/sounds.ts';
import { differenceOf, plannedIn, sumOf } from './book.ts';
import { CLIP } from './desk.ts';

async function openDesk() {
  const { folder, run, env, hosted } = await openMinimal();
  const seen = new Set<StoredJob>();
  const done = async (line: string) => {
    const { code, stdout, stderr } = await run(line.split(' '), { env: { ...env, PATH: rememberingPath() } });
    expect(code, `${line}: ${stderr}`).toBe(0);
    return stdout;
  };
  /** Runs a command as planned. @returns the kinds of the jobs that it paid */
  const pay = async (line: string) => {
    const planned = plannedIn(await done(`${line} --dry-run -o json`));
    await done(line);
    const paid = sumOf([...hosted.jobs.values()].filter((job) => !seen.has(job)));
    for (const job of hosted.jobs.values()) seen.add(job);
    expect(differenceOf(planned, paid), line).toBeNull();
    return [...paid.keys()].toSorted();
  };
  return { folder, path: (name: string) => join(folder, name), pay };
}

it('one file, sound, marks, styles and spoken names are charged as --dry-run said', async () => {
  const { folder, path, pay } = await openDesk();
  await copyFile(CLIP, path('clip.mp4'));
  makeSound(folder, 'episode.mp3', 2);
  const say = (text: string) => writeFile(path('terms.csv'), `term,say:es\nmorning,${text}\n`);
  await say('morgen');
  const one = 'localize clip.mp4 --from en --to es,fr --one-file --out out';
  const episode = 'localize episode.mp3 --to es --out out --loudness';
  const burn =
    'localize clip.mp4 --from en --to es --from-subtitles --subtitle-output burned --terms terms.csv --out staged --subtitle-style';
  const all = ['audio_separation', 'dubbing', 'subtitle_recognition', 'subtitle_translation'];
  expect(await pay(one)).toEqual(['auto_localization']);
  expect(await pay(`${one} --default original`)).toEqual([]);
  expect(await pay(`${episode} -16`)).toEqual(['auto_localization']);
  expect(await pay(`${episode} -23 --clobber --mark --provenance`)).toEqual([]);
  expect(await pay(`${burn} box`)).toEqual(all);
  expect(await pay(`${burn} plain`)).toEqual([]);
  await say('morgen morgen');
  expect(await pay(`${burn} plain`)).toEqual(['dubbing']);
});
