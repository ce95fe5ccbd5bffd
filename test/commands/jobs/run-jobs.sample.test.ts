/** `--sample`: the beginning of a video as an item of its own, then the whole. */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TestSettings } from '../../../src/commands/context/context.ts';
import { ffmpeg, SAMPLE } from '../../engines/workspace.ts';
import { openHosted } from '../../hosted/run-hosted.ts';
import { VARIANTS } from '../../hosted/variants.ts';
import { testsOwnWork } from '../../service/harness/profiles.ts';
import { probeStreams } from '../../support/media.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { linesOf } from '../support/run-vloc.ts';
import { type MediaDesk, openMediaDesk } from './desk.ts';

/** `talk.mp4` lasts 15 s: two parts, each a started minute. A sample of it has one. */
const limits: NonNullable<TestSettings['limits']> = {
  seconds: 14,
  bytes: 1e9,
  lines: 100,
  parts: { equalSeconds: 8, mostSeconds: 13, mostBytes: 1e9 },
};

/** Each runs ffmpeg several times, on machines that do other work too. */
const PATIENCE = { timeout: 300_000 };

/** More bytes than the sound of its parts, and key frames at each pause. */
const PICTURE = [
  '-vf',
  'scale=160:90,fps=10',
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-g',
  '5',
  '-crf',
  '5',
];

/** Writes speech with pauses; nobody speaks from 8.1 to 9.1 s. */
const makeTalk = (path: string) => ffmpeg('-i', SAMPLE, '-t', '15', ...PICTURE, '-c:a', 'copy', path);

/** A service, and `talk.mp4`. */
async function open() {
  const desk = await openMediaDesk();
  const at = (name: string) => join(desk.folder, name);
  makeTalk(at('talk.mp4'));
  /** Writes the first seconds of the talk. */
  const shorten = (name: string, length: number) =>
    ffmpeg('-i', at('talk.mp4'), '-t', String(length), '-c', 'copy', at(name));
  const run = (...words: string[]) => desk.vloc(words, { limits });
  return { desk, at, shorten, run };
}

/** Each part of a video has one line, at its start. */
const TWO_PARTS = /^1\n00:00:00,000.*\nhello\n\n2\n00:00:0[789].*\nhello\s*$/;

const jobsOf = (desk: MediaDesk) => desk.count('createAutoLocalization');
const seconds = (path: string) => probeStreams(path).duration;

describe('a sample', PATIENCE, () => {
  test('is planned, cut at a pause and sent once for all languages, and its end names the cost of the whole', async () => {
    const { desk, at, run } = await open();
    const original = readFileSync(at('talk.mp4'));
    const localize = (...more: string[]) =>
      run('localize', 'talk.mp4', '--from', 'en', '--to', 'es,fr', ...more);
    const plan = await localize('--sample', '10s', '--dry-run', '-o', 'json');
    expect(plan.code, plan.stderr).toBe(0);
    expect(JSON.parse(plan.stdout)).toMatchObject({ jobs: 2, uploads: 1, quantity: 2 });
    expect(JSON.parse(plan.stdout).items[0].results[0]).toMatch(/talk\.es\.sample\.mp4$/);
    expect(plan.stderr).toContain('The whole has 4 started minutes.');
    expect(desk.count('createUpload')).toBe(0);

    const { code, stdout, stderr } = await localize('--sample', '10s', '-o', 'json');
    expect(code, stderr).toBe(0);
    expect([desk.count('createUpload'), jobsOf(desk)]).toEqual([1, 2]);
    for (const language of ['es', 'fr']) {
      const length = seconds(at(`talk.${language}.sample.mp4`));
      expect(length).toBeGreaterThan(8.1);
      expect(length).toBeLessThan(9.1);
    }
    expect(existsSync(at('talk.es.mp4'))).toBe(false);
    expect(readFileSync(at('talk.mp4')).equals(original)).toBe(true);
    const goOn = 'vloc localize talk.mp4 --from en --to es,fr -o json --split';
    const sample = {
      units: [{ unit: 'started_minute', quantity: 2, whole_quantity: 4 }],
      ...{ charged_credits: 2, whole_credits: 4, continue: goOn },
    };
    expect(JSON.parse(stdout).sample).toEqual(sample);
    expect(stderr).toContain(
      `2 started minutes paid (2 credits); the whole costs 4 started minutes (4 credits); continue with:\n`,
    );
    expect(stderr).toContain(`  ${goOn}\n`);

    // Another length is a change that is refused, as another option is.
    const refused = await localize('--sample', '12s');
    expect([refused.code, jobsOf(desk)]).toEqual([2, 2]);
    expect(refused.stderr).toContain('sample 10 s → 12 s');
    const replaced = await localize('--sample', '12s', '--clobber', '--dry-run', '-o', 'json');
    expect(JSON.parse(replaced.stdout)).toMatchObject({ jobs: 2 });
  });

  test('is not taken for the whole when the journal is lost, and is found again by the same command', async () => {
    const { desk, at, shorten, run } = await open();
    shorten('clip.mp4', 12);
    const words = ['localize', 'clip.mp4', '--to', 'es'];
    expect((await run(...words, '--sample', '10s')).code).toBe(0);
    for (const name of ['.vloc', 'clip.es.sample.mp4']) rmSync(at(name), { recursive: true });
    expect((await run(...words)).code).toBe(0);
    expect(seconds(at('clip.es.mp4'))).toBeGreaterThan(11);
    expect(jobsOf(desk)).toBe(2);
    expect((await run(...words, '--sample', '10s', '--rebuild')).code).toBe(0);
    expect(seconds(at('clip.es.sample.mp4'))).toBeLessThan(9.1);
    expect(jobsOf(desk)).toBe(2);
  });

  test.each([
    ['in one job each', [], '1 started minute paid (1 credit); the whole costs 1 started minute (1 credit);'],
    [
      'in stages',
      ['--original-audio', 'mute', '--from-subtitles'],
      '1 started minute, 1 line, 1 started thousand characters paid; the whole costs about 1 started minute, 1 line,',
    ],
  ])('beside a video that cannot be used is priced all the same, %s', async (_, more, price) => {
    const { at, shorten, run } = await open();
    mkdirSync(at('in'));
    shorten('in/a.mp4', 2);
    writeFileSync(at('in/b.mp4'), 'no video');
    const words = ['localize', 'in', '--from', 'en', '--to', 'es', ...more];
    const first = await run(...words, '--sample', '10s');
    expect([first.code, existsSync(at('a.es.sample.mp4'))], first.stderr).toEqual([3, true]);
    expect(first.stderr).toContain(price);
    const again = await run(...words, '--sample', '10s', '-o', 'json');
    expect(again.code, again.stderr).toBe(3);
    expect(again.stderr).toContain(`continue with:\n  vloc ${words.join(' ')} -o json\n`);
    expect(JSON.parse(again.stdout).sample.units[0]).toMatchObject({ quantity: 0, whole_quantity: 1 });
    const { items } = JSON.parse((await run('batch', 'status', '.', '-o', 'json')).stdout);
    const samples = items.filter(({ kind }: { kind: string }) => kind === 'auto_localization');
    const labels = samples.map(({ label }: { label: string }) => label);
    expect(labels.sort()).toEqual(['in/a.mp4 → es (sample)', 'in/b.mp4 → es (sample)']);
  });

  test('takes a shorter video whole, has its own name in all kinds of jobs, and leaves the whole to be done', async () => {
    const { desk, at, shorten, run } = await open();
    shorten('short.mp4', 2);
    const words = ['localize', 'short.mp4', '--to', 'es'];
    const first = await run(...words, '--sample');
    expect(first.code, first.stderr).toBe(0);
    expect(readFileSync(at('short.es.sample.mp4')).equals(readFileSync(at('short.mp4')))).toBe(true);
    expect(first.stderr).toContain('continue with:\n  vloc localize short.mp4 --to es\n');
    expect((await run(...words)).code).toBe(0);
    expect(jobsOf(desk)).toBe(2);
    expect((await run('recognize', 'short.mp4', '--from', 'en', '--sample', '10s')).code).toBe(0);
    expect((await run('separate', 'short.mp4', '--sample', '10s')).code).toBe(0);
    const names = ['short.en.sample.srt', 'short.vocals.sample.wav', 'short.background.sample.wav'];
    expect(names.map((name) => existsSync(at(name)))).toEqual([true, true, true]);
  });

  test('of a shorter video that is too large for one job is sent in parts', async () => {
    const { desk, at } = await open();
    const { size } = statSync(at('talk.mp4'));
    const parts = { equalSeconds: 60, mostSeconds: 60, mostBytes: size };
    const words = ['recognize', 'talk.mp4', '--from', 'en', '--sample', '40s'];
    const { code, stderr } = await desk.vloc(words, {
      limits: { ...limits, seconds: 60, bytes: size, parts },
    });
    expect(code, stderr).toBe(0);
    expect(desk.count('createSubtitleRecognition')).toBe(2);
    expect(readFileSync(at('talk.en.sample.srt'), 'utf8')).toMatch(TWO_PARTS);
  });

  test('of a video that must be converted is cut from it', async () => {
    const { at, run } = await open();
    ffmpeg('-i', at('talk.mp4'), '-c', 'copy', at('film.mkv'));
    const { code, stderr } = await run('localize', 'film.mkv', '--to', 'es', '--sample=10s', '--convert');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('remuxed to MP4 without re-encoding, since');
    expect(seconds(at('film.es.sample.mp4'))).toBeLessThan(9.1);
    expect(stderr).toContain('  vloc localize film.mkv --to es --convert --split\n');
  });
});

describe('a sample in stages', PATIENCE, () => {
  const STAGED = ['--stop-after', 'translate'];

  test('has subtitles of its own beside the video, is made from their edited text, and leaves the whole to be done', async () => {
    const { desk, at, run } = await open();
    const words = ['localize', 'talk.mp4', '--from', 'en', '--to', 'es', '--split'];
    const stopped = await run(...words, '--sample', '10s', ...STAGED);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(stopped.stderr).toContain('talk.sample.es.srt');
    expect(existsSync(at('talk.es.srt'))).toBe(false);
    const translated = readFileSync(at('talk.sample.es.srt'), 'utf8');
    writeFileSync(at('talk.sample.es.srt'), translated.replace(/\n([a-z].*)\n/i, '\nedited\n'));
    const made = await run(...words, '--sample', '10s', '--from-subtitles', '-o', 'json');
    expect(made.code, made.stderr).toBe(0);
    expect(seconds(at('talk.es.sample.mp4'))).toBeGreaterThan(8.1);
    expect(seconds(at('talk.es.sample.mp4'))).toBeLessThan(9.1);
    const { sample } = JSON.parse(made.stdout);
    // The separation, and the dub of the edited text.
    expect(sample.units).toContainEqual({ unit: 'started_minute', quantity: 1, whole_quantity: 2 });
    expect(sample.units).toContainEqual(
      expect.objectContaining({ unit: 'started_thousand_characters', quantity: 1 }),
    );
    expect(sample.continue).toBe('vloc localize talk.mp4 --from en --to es --split --from-subtitles -o json');
    expect([desk.count('createSubtitleRecognition'), desk.count('createDubbing')]).toEqual([1, 1]);
    const again = await run(...words, '--sample', '10s', '--from-subtitles');
    expect(again.code, again.stderr).toBe(0);
    expect(again.stderr).toContain('Nothing to do');
    expect(desk.count('createDubbing')).toBe(1);
    const whole = await run(...words, ...STAGED);
    expect(whole.code, whole.stderr).toBe(0);
    expect(desk.count('createSubtitleRecognition')).toBe(1 + 2);
    expect(existsSync(at('talk.es.srt'))).toBe(true);
    expect(readFileSync(at('talk.sample.es.srt'), 'utf8')).toContain('edited');
  });

  test('belongs to the shard of its video, with all its jobs', async () => {
    const { at, shorten, run } = await open();
    shorten('short.mp4', 2);
    const words = ['localize', 'short.mp4', '--to', 'es', '--sample', ...STAGED];
    for (const shard of ['1/4', '2/4', '3/4', '4/4']) {
      const { code, stderr } = await run(...words, '--shard', shard);
      expect(code, stderr).toBe(0);
    }
    expect(existsSync(at('short.sample.es.srt'))).toBe(true);
    const { stdout } = await run('batch', 'status', '.', '--all', '-o', 'json');
    const { items, shards } = JSON.parse(stdout);
    const own = shards.filter(({ items: count }: { items: number }) => count > 0);
    expect(own).toMatchObject([{ items: items.length, done: items.length }]);
    const labels = items.map(({ label }: { label: string }) => label);
    expect(labels.sort()).toEqual(['short.mp4 (sample)', 'short.mp4 → es (sample)']);
  });

  test('speaks only those cues of given subtitles that begin in it', async () => {
    const { desk, at, run } = await open();
    const cue = (n: number) => `${n}\n00:00:${n}1,000 --> 00:00:${n}2,000\ncue ${n}\n`;
    writeFileSync(at('talk.es.srt'), [cue(0), cue(1)].join('\n'));
    const words = ['localize', 'talk.mp4', '--to', 'es', '--original-audio', 'mute', '--sample', '10s'];
    for (const more of [
      ['--subtitle', 'talk.es.srt'],
      ['--from-subtitles', '--clobber'],
    ]) {
      const { code, stderr } = await run(...words, ...more);
      expect(code, stderr).toBe(0);
    }
    const { json } = await desk.caller.get('/v1/dubbings?limit=50');
    expect(json.data).toHaveLength(1);
    const job = await desk.caller.get(json.data[0].detail_url);
    expect(job.json.input).toMatchObject({ subtitle: { line_count: 1 } });
  });
});

test.runIf(testsOwnWork()).each([
  [['--sample', 'talk.mp4'], /invalid --sample "talk\.mp4": .* write --sample after the inputs/],
  [['--sample', '1s', 'talk.mp4'], /invalid --sample "1s": expected a time from 5s/],
  [
    ['https://a.example/talk.mp4', '--sample'],
    /not a file on this machine, from which --sample could be cut/,
  ],
  [['talk.mp4', '--sample', '--watch'], /--watch cannot be combined with --sample/],
])('a sample is refused before anything is sent if it cannot work: %j', async (words, message) => {
  const desk = await openMediaDesk();
  const { code, stderr } = await desk.vloc(['localize', ...words, '--to', 'es']);
  expect([code, desk.count('createUpload')]).toEqual([2, 0]);
  expect(stderr).toMatch(message);
});

test('a hosted service with only what the specification demands gets the sample', PATIENCE, async () => {
  const { hosted, folder, env, run } = await openHosted(VARIANTS.minimal, new Set(), { jobMs: () => 0 });
  makeTalk(join(folder, 'clip.mp4'));
  const io = { limits, env: { ...env, PATH: rememberingPath() } };
  const words = ['localize', 'clip.mp4', '--from', 'en', '--to', 'es'];
  const sample = await run([...words, '--sample', '10s'], io);
  expect(sample.code, sample.stderr).toBe(0);
  expect(sample.stderr).toContain(
    '1 started minute paid; the whole costs 2 started minutes; continue with:\n',
  );
  const again = await run([...words, '--sample', '10s', '-o', 'ndjson'], io);
  expect(again.code, again.stderr).toBe(0);
  const lines = linesOf(again.stdout);
  expect(lines.slice(-2)).toMatchObject([
    { type: 'sample', units: [{ quantity: 0, whole_quantity: 2 }] },
    { type: 'summary' },
  ]);
  expect(hosted.jobs.size).toBe(1);
  const staged = await run([...words, '--sample', '10s', '--stop-after', 'translate'], io);
  expect(staged.code, staged.stderr).toBe(0);
  expect([existsSync(join(folder, 'clip.sample.es.srt')), hosted.jobs.size]).toEqual([true, 3]);
  const whole = await run([...words, '--split', '--dry-run', '-o', 'json'], io);
  expect(JSON.parse(whole.stdout)).toMatchObject({ jobs: 2, done_before: 0 });
});
