/** What --dry-run says of the commands of editors and of owners of videos is what they are charged: by the embedded, or by a minimal hosted service. */
import { existsSync } from 'node:fs';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { JobKind } from '../../src/protocol/kind-names.ts';
import { startStaging } from '../commands/stages/staging.ts';
import { openMinimal } from '../hosted/run-hosted.ts';
import { makeMedia, rememberingPath } from '../support/remembered-programs.ts';
import type { Ended } from '../support/run-main.ts';
import { makeSound } from '../support/sounds.ts';
import { differenceOf, plannedIn, type Sums, sumOf } from './book.ts';
import { CLIP } from './desk.ts';

interface Service {
  readonly folder: string;
  readonly run: (words: readonly string[]) => Promise<Ended>;
  /** All that was charged so far. */
  readonly charged: () => Promise<Sums>;
}

async function startEmbedded(): Promise<Service> {
  const { folder, run, caller } = await startStaging();
  const charged = async () => {
    const { json } = await caller.get('/v1/credit-transactions?limit=50');
    const rows: { capability: JobKind; quantity: number }[] = json.data;
    return new Map(
      [...Map.groupBy(rows, ({ capability }) => capability)].map(([kind, own]) => {
        const units = own.reduce((sum, { quantity }) => sum + quantity, 0);
        return [kind, { jobs: own.length, units, unknown: 0 }] as const;
      }),
    );
  };
  return { folder, run, charged };
}

async function startMinimal(): Promise<Service> {
  const { folder, run, env, hosted } = await openMinimal();
  return {
    folder,
    run: (words) => run(words, { env: { ...env, PATH: rememberingPath() } }),
    charged: async () => sumOf(hosted.jobs.values()),
  };
}

function since(before: Sums, after: Sums): Sums {
  return new Map(
    [...after].map(([kind, { jobs, units }]) => {
      const was = before.get(kind);
      return [kind, { jobs: jobs - (was?.jobs ?? 0), units: units - (was?.units ?? 0), unknown: 0 }];
    }),
  );
}

/** Runs commands beside a clip, each of which must succeed. */
async function openDesk(start: () => Promise<Service>) {
  const { folder, run, charged } = await start();
  const path = (name: string) => join(folder, name);
  await copyFile(CLIP, path('clip.mp4'));
  const done = async (line: string) => {
    const ended = await run(line.split(' '));
    expect(ended.code, `${line}: ${ended.stderr}`).toBe(0);
    return ended.stdout;
  };
  /** @returns the kinds of the jobs that it paid */
  const pay = async (line: string) => {
    const planned = plannedIn(await done(`${line} --dry-run -o json`));
    const before = await charged();
    await done(line);
    const paid = since(before, await charged());
    expect(differenceOf(planned, paid), line).toBeNull();
    return [...paid].flatMap(([kind, { jobs }]) => (jobs > 0 ? kind : [])).toSorted();
  };
  /** @returns whether it paid nothing */
  const isFree = async (line: string) => {
    const before = await charged();
    await done(line);
    return differenceOf(before, await charged()) === null;
  };
  return { folder, path, pay, isFree };
}

it('the embedded service charges styles, review tables and spoken names as --dry-run said', async () => {
  const { path, pay, isFree } = await openDesk(startEmbedded);
  const localize = 'localize clip.mp4 --from en --to es';
  expect(await pay(`${localize} --stop-after translate`)).toEqual([
    'subtitle_recognition',
    'subtitle_translation',
  ]);
  expect(await isFree('subtitles export . --to es --out review.csv')).toBe(true);
  const [, , cue = ''] = (await readFile(path('clip.es.srt'), 'utf8')).split('\n');
  await writeFile(path('review.csv'), (await readFile(path('review.csv'), 'utf8')).replace(cue, 'los días'));
  expect(await isFree('subtitles import review.csv')).toBe(true);
  expect(await readFile(path('clip.es.srt'), 'utf8')).toContain('los días');
  const say = (text: string) => writeFile(path('terms.csv'), `term,say:es\ndías,${text}\n`);
  await say('dias');
  const burn = `${localize} --from-subtitles --subtitle-output burned --terms terms.csv --subtitle-style`;
  expect(await pay(`${burn} box`)).toEqual(['audio_separation', 'dubbing']);
  expect(await pay(`${burn} plain`)).toEqual([]);
  await say('dias largos');
  expect(await pay(`${burn} plain`)).toEqual(['dubbing']);
  // The service delivers a video with what is in its source.
  makeMedia('-i', CLIP, '-i', path('clip.es.srt'), '-c', 'copy', '-c:s', 'mov_text', path('titled.mp4'));
  const whole =
    'localize titled.mp4 --from en --to es --subtitle-output burned --subtitle-style box --out whole';
  expect(await pay(whole)).toEqual(['auto_localization']);
});

/** The page of a package is made from the build, which a checkout may not have. */
const PACKED = existsSync(new URL('../../dist/report-page.js', import.meta.url))
  ? ['batch pack out staged lessons.zip']
  : [];

it('a minimal hosted service charges one file, sound and marks as --dry-run said', async () => {
  const { folder, pay, isFree } = await openDesk(startMinimal);
  makeSound(folder, 'episode.mp3', 2);
  const one = 'localize clip.mp4 --from en --one-file --to';
  expect(await pay(`${one} es,fr --out out`)).toEqual(['auto_localization']);
  expect(await pay(`${one} es,fr --from-subtitles --out staged`)).toEqual([
    ...['audio_separation', 'dubbing', 'subtitle_recognition', 'subtitle_translation'],
  ]);
  const episode = 'localize episode.mp3 --to es --out out --loudness';
  expect(await pay(`${episode} -16`)).toEqual(['auto_localization']);
  const alone = 'localize clip.mp4 --from en --to es --sound-only --out out --clobber';
  for (const line of [
    `${one} es,fr --default original --out out`,
    `${one} es,fr --from-subtitles --default fr --provenance --out staged`,
    `${episode} -23 --clobber --no-mark`,
    `${episode} -23 --clobber --mark --provenance`,
    `${alone} --loudness -23 --mark --provenance`,
    'verify out/episode.es.mp3 out/clip.es.m4a staged/clip.mul.mp4',
    ...PACKED,
  ]) {
    expect(await isFree(line), line).toBe(true);
  }
});
