/** `--one-file`, from the command to the tracks of the file: as one job for each language, and in stages. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { ffmpeg, ffprobe } from '../../engines/workspace.ts';
import { pictureSums, readCues } from '../../support/media.ts';
import { makeSound, measureSound, readSound } from '../../support/sounds.ts';
import { type Staging, startStaging } from '../stages/staging.ts';
import { expectKilled, killingPath, spawnVloc } from '../support/killed-vloc.ts';

/** Engines that cannot make French until they are allowed to. */
async function startWithoutFrench(failure = new JobFailure('LANGUAGE_NOT_SUPPORTED', 'no French today')) {
  let isAllowed = false;
  const refuse = ({ targetLanguage }: { readonly targetLanguage: string }) => {
    if (targetLanguage === 'fr' && !isAllowed) throw failure;
  };
  const vloc = await startStaging({}, (run) => ({
    ...run,
    async auto_localization(task, work) {
      refuse(task);
      return run.auto_localization(task, work);
    },
    async subtitle_translation(task, work) {
      refuse(task);
      return run.subtitle_translation(task, work);
    },
  }));
  const allow = () => {
    isAllowed = true;
  };
  return { vloc, allow };
}

const PATIENCE = { timeout: 240_000 };

/** What ffprobe says of the streams of a kind: language, name, and whether players start with it. */
function tracksOf(file: string, streams: 'a' | 's'): string[] {
  const entries = 'stream_disposition=default:stream_tags=language,handler_name';
  const rows = ffprobe(file, entries, streams)
    .split('\n')
    .filter((row) => row !== '');
  return Array.from({ length: rows.length / 3 }, (_, at) => rows.slice(3 * at, 3 * at + 3).join(' '));
}
const soundOf = (vloc: Staging, file = 'out/talk.mul.mp4') => tracksOf(vloc.path(file), 'a');

const jobsOf = async (vloc: Staging) => {
  const { json } = await vloc.caller.get('/v1/auto-localizations?limit=50');
  return [json.data.length, ...(await vloc.jobs())];
};

const ONE = ['localize', 'talk.mp4', '--from', 'en', '--one-file', '--out', 'out'];

describe.each([
  ['as one job for each language', []],
  ['in stages', ['--from-subtitles']],
])('one file with all languages, %s', PATIENCE, (_how, more) => {
  it('has the picture, a sound track for each language and the original one, and only it is visible', async () => {
    const vloc = await startStaging();
    const narrow = [...ONE, ...more, '--to', 'es'];
    const words = [...ONE, ...more, '--to', 'es,fr'];
    const planned = await vloc.run([...narrow, '--dry-run']);
    expect(planned.stdout + planned.stderr).toMatch(/put together/i);
    const { code, stdout, stderr } = await vloc.run([...narrow, '-o', 'plain']);
    expect(code, stderr).toBe(0);
    expect(stdout).toBe(`${vloc.path('out/talk.mul.mp4')}\n`);
    expect(readdirSync(vloc.path('out')).filter((name) => !name.startsWith('.'))).toEqual(['talk.mul.mp4']);
    expect(soundOf(vloc)).toEqual(['1 spa Spanish', '0 eng Original']);
    expect(pictureSums(vloc.path('out/talk.mul.mp4'), 'coded')).toEqual(
      pictureSums(vloc.path('talk.mp4'), 'coded'),
    );
    // One language more pays only for that one.
    const [one = 0] = await jobsOf(vloc);
    const wider = await vloc.run(words);
    expect(wider.code, wider.stderr).toBe(0);
    expect(soundOf(vloc)).toEqual(['1 spa Spanish', '0 fra French', '0 eng Original']);
    const jobs = await jobsOf(vloc);
    expect(jobs[0]).toBe(2 * one);
    const before = readFileSync(vloc.path('out/talk.mul.mp4'));
    const again = await vloc.run(words);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);
    expect(readFileSync(vloc.path('out/talk.mul.mp4')).equals(before)).toBe(true);
    const status = await vloc.run(['batch', 'status', 'out', '--all']);
    expect([status.code, status.stdout]).toEqual([0, expect.stringContaining('talk.mp4 → mul')]);
    // Another sound to start with pays nothing.
    const original = await vloc.run([...words, '--default', 'original']);
    expect(original.code, original.stderr).toBe(0);
    expect(soundOf(vloc)).toEqual(['1 eng Original', '0 spa Spanish', '0 fra French']);
    // Without the option a language gets a file of its own, for nothing.
    const own = await vloc.run(narrow.filter((word) => word !== '--one-file'));
    expect(own.code, own.stderr).toBe(0);
    expect(soundOf(vloc, 'out/talk.es.mp4')).toHaveLength(1);
    expect(await jobsOf(vloc)).toEqual(jobs);
  });

  it('has the other languages if one fails, and gets that one when it is made', async () => {
    const { vloc, allow } = await startWithoutFrench();
    const words = [...ONE, ...more, '--to', 'fr,es', '--sound-only'];
    const sounds = () => ['es', 'fr'].filter((to) => vloc.has(`out/talk.${to}.m4a`));
    const failed = await vloc.run(words);
    expect(failed.code, failed.stderr).toBe(3);
    expect(failed.stderr).toContain('no French today');
    expect(soundOf(vloc)).toEqual(['1 spa Spanish', '0 eng Original']);
    expect(sounds()).toEqual(['es']);
    // What was made says no more, also where it is asked later.
    expect((await vloc.run([...words, '--provenance'])).code).toBe(3);
    expect(await readProvenance(vloc.path('out/talk.mul.mp4'))).toMatchObject({ to: ['es'] });
    const status = await vloc.run(['batch', 'status', 'out', '-o', 'json']);
    expect([status.code, JSON.parse(status.stdout).counts]).toMatchObject([3, { failed: 2, waiting: 0 }]);
    allow();
    const retried = await vloc.run(['batch', 'retry', 'out', '--all']);
    expect(retried.code, retried.stderr).toBe(0);
    expect(soundOf(vloc)).toEqual(['1 fra French', '0 spa Spanish', '0 eng Original']);
    expect(sounds()).toEqual(['es', 'fr']);
    expect((await vloc.run(['batch', 'status', 'out'])).code).toBe(0);
  });
});

describe('one file with all languages', PATIENCE, () => {
  it('has the sound of each language beside it with --sound-only, as loud as asked for', async () => {
    const vloc = await startStaging();
    // The dubs of these engines are silent, which no loudness changes.
    const words = [...ONE, '--to', 'es,fr', '--sound-only', '--original-audio', 'duck'];
    const files = ['talk.es.m4a', 'talk.fr.m4a', 'talk.mul.mp4'];
    const bytesOf = () => files.map((name) => readFileSync(vloc.path(`out/${name}`)));
    const loudness = () => files.slice(0, 2).map((name) => measureSound(vloc.path(`out/${name}`)).lufs);
    mkdirSync(vloc.path('out'));
    writeFileSync(vloc.path('out/talk.es.m4a'), 'mine');
    const refused = await vloc.run(words);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('talk.es.m4a: exists')]);
    expect(vloc.read('out/talk.es.m4a')).toBe('mine');
    expect(await jobsOf(vloc)).toEqual([0, 0, 0, 0, 0]);
    rmSync(vloc.path('out/talk.es.m4a'));

    const { code, stdout, stderr } = await vloc.run([...words, '--loudness', '-16', '-o', 'plain']);
    expect(code, stderr).toBe(0);
    expect(stdout.trim().split('\n').sort()).toEqual(files.map((name) => vloc.path(`out/${name}`)));
    expect(readdirSync(vloc.path('out')).filter((name) => !name.startsWith('.'))).toEqual(files);
    expect(soundOf(vloc)).toEqual(['1 spa Spanish', '0 fra French', '0 eng Original']);
    expect(readSound(vloc.path('out/talk.fr.m4a'))).toMatchObject({
      ...{ codec: 'aac', covers: 0, tags: { language: 'fra' } },
    });
    for (const lufs of loudness()) expect(Math.abs(lufs + 16)).toBeLessThan(0.5);
    const [jobs, before] = [await jobsOf(vloc), bytesOf()];
    const again = await vloc.run([...words, '--loudness', '-16']);
    expect([again.code, again.stderr]).toEqual([0, expect.stringContaining('Nothing to do')]);
    expect(bytesOf()).toEqual(before);

    const softer = await vloc.run([...words, '--loudness', '-23']);
    expect(softer.code, softer.stderr).toBe(0);
    for (const lufs of loudness()) expect(Math.abs(lufs + 23)).toBeLessThan(0.5);
    expect(bytesOf().at(-1)).toEqual(before.at(-1));
    rmSync(vloc.path('out/talk.fr.m4a'));
    const lost = await vloc.run([...words, '--loudness', '-23', '--provenance']);
    expect(lost.code, lost.stderr).toBe(0);
    expect(loudness()).toHaveLength(2);
    for (const name of files) {
      const verified = await vloc.run(['verify', `out/${name}`, '-o', 'json']);
      const [, to] = name.split('.');
      expect(JSON.parse(verified.stdout).data, verified.stderr).toMatchObject([
        {
          ...{ status: 'verified', tag: { to: to === 'mul' ? ['es', 'fr'] : [to] } },
          provenance: { to: to === 'mul' ? ['es', 'fr'] : [to] },
        },
      ]);
    }
    expect(await jobsOf(vloc)).toEqual(jobs);
    const status = await vloc.run(['batch', 'status', 'out', '--all']);
    expect([status.code, status.stdout]).toEqual([0, expect.stringContaining('talk.mp4 → es (sound)')]);
    expect((await vloc.run(['batch', 'report', 'out', '--html'])).code).toBe(0);
    const packed = await vloc.run(['batch', 'pack', 'out', 'packed']);
    expect(packed.code, packed.stderr).toBe(0);
    expect(vloc.has('packed/results/talk.es.m4a')).toBe(true);
  });

  it('is not written if every language fails, which ends as it does without it', async () => {
    const { vloc, allow } = await startWithoutFrench();
    const words = [...ONE, '--to', 'fr'];
    const without = await vloc.run(words.map((word) => (word === '--one-file' ? '--skip-done' : word)));
    const failed = await vloc.run([...words, '--retry-failed']);
    expect(failed.code, failed.stderr).toBe(without.code);
    expect(existsSync(vloc.path('out/talk.mul.mp4'))).toBe(false);
    const status = await vloc.run(['batch', 'status', 'out', '-o', 'json']);
    expect([status.code, JSON.parse(status.stdout).counts]).toMatchObject([3, { failed: 2, waiting: 0 }]);
    allow();
    const made = await vloc.run([...words, '--retry-failed']);
    expect(made.code, made.stderr).toBe(0);
    expect(soundOf(vloc)).toEqual(['1 fra French', '0 eng Original']);
  });

  it('is refused before anything is paid where it cannot be made', async () => {
    const vloc = await startStaging();
    const words = [...ONE, '--to', 'es,fr'];
    mkdirSync(vloc.path('out'));
    writeFileSync(vloc.path('out/talk.mul.mp4'), 'mine');
    for (const [wrong, said] of [
      [['--subtitle-output', 'burned'], '--subtitle-output soft'],
      [['--default', 'de'], 'one of es, fr'],
      [['--name', '{stem}.{id}{ext}'], '{id}'],
      [['--sound-only', '--name', '{stem}.{lang}.m4a'], 'end it in {ext}'],
      [['--sound-only', '--mode', 'subtitles_only'], '--mode subtitles_only'],
      [[], 'exists'],
    ] as const) {
      const refused = await vloc.run([...words, ...wrong]);
      expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(said)]);
    }
    makeSound(vloc.folder, 'episode.mp3');
    const episode = await vloc.run(words.map((word) => (word === 'talk.mp4' ? 'episode.mp3' : word)));
    expect([episode.code, episode.stderr]).toEqual([
      2,
      expect.stringMatching(/episode\.mp3: is sound without a picture, for which --one-file does nothing/),
    ]);
    const alone = await vloc.run([...words.filter((word) => word !== '--one-file'), '--default', 'es']);
    expect([alone.code, alone.stderr]).toEqual([2, expect.stringContaining('--one-file')]);
    expect(await jobsOf(vloc)).toEqual([0, 0, 0, 0, 0]);
    expect(vloc.read('out/talk.mul.mp4')).toBe('mine');
  });

  it('is made again by the next run if this one is killed while it is written, and nothing is paid twice', async () => {
    const vloc = await startStaging();
    const words = [...ONE, '--to', 'es,fr'];
    for (const file of ['languages.mp4', 'with-tracks.mp4']) {
      const env = { PATH: killingPath('ffmpeg', file), ...vloc.env };
      await expectKilled(spawnVloc(words, { folder: vloc.folder, env }));
      expect(existsSync(vloc.path('out/talk.mul.mp4'))).toBe(false);
    }
    const jobs = await jobsOf(vloc);
    const after = await vloc.run(words);
    expect(after.code, after.stderr).toBe(0);
    expect(soundOf(vloc)).toEqual(['1 spa Spanish', '0 fra French', '0 eng Original']);
    expect(await jobsOf(vloc)).toEqual(jobs);
  });

  it('comes for each video of a folder, and a video without sound is copied once', async () => {
    const vloc = await startStaging();
    await vloc.addVideo('in/one.mp4');
    await vloc.addVideo('in/more/two.mp4');
    ffmpeg('-i', vloc.path('talk.mp4'), '-an', '-c', 'copy', vloc.path('in/silent.mp4'));
    const words = ['localize', 'in', '--from', 'en', '--to', 'es,fr', '--one-file', '--out', 'out'];
    const shards = ['1/2', '2/2'];
    for (const shard of shards) {
      const { code, stderr } = await vloc.run([...words, '--pass-through', '--shard', shard]);
      expect(code, stderr).toBe(0);
    }
    for (const name of ['one', 'more/two']) expect(soundOf(vloc, `out/${name}.mul.mp4`)).toHaveLength(3);
    expect(soundOf(vloc, 'out/silent.mul.mp4')).toEqual([]);
    const status = await vloc.run(['batch', 'status', 'out']);
    expect(status.code, status.stdout + status.stderr).toBe(0);
    const page = await vloc.run(['batch', 'report', 'out', '--html']);
    expect(page.code, page.stderr).toBe(0);
  });

  it('has its provenance beside it, which verifies, and its languages have none', async () => {
    const vloc = await startStaging();
    const { code, stderr } = await vloc.run([...ONE, '--from-subtitles', '--to', 'es,fr', '--provenance']);
    expect(code, stderr).toBe(0);
    const all = readdirSync(vloc.path('out'), { recursive: true, encoding: 'utf8' });
    expect(all.filter((name) => name.endsWith('.provenance.json'))).toEqual(['talk.mul.provenance.json']);
    const verified = await vloc.run(['verify', 'out/talk.mul.mp4', '-o', 'json']);
    expect(verified.code, verified.stderr).toBe(0);
    const to = ['es', 'fr'];
    const [{ tag, provenance }] = JSON.parse(verified.stdout).data;
    expect([tag.to, provenance.to]).toEqual([to, to]);
    const steps = provenance.steps.map(({ step }: { step: string }) => step);
    expect(steps).toEqual(['recognize', 'translate', 'speak', 'separate']);
  });

  it('of a sample has .sample in its name, and is kept when the whole is made', async () => {
    const vloc = await startStaging();
    const words = [...ONE, '--to', 'es,fr'];
    const sample = await vloc.run([...words, '--sample=5s']);
    expect(sample.code, sample.stderr).toBe(0);
    expect(soundOf(vloc, 'out/talk.mul.sample.mp4')).toHaveLength(3);
    const whole = await vloc.run(words);
    expect(whole.code, whole.stderr).toBe(0);
    expect(readdirSync(vloc.path('out')).filter((name) => !name.startsWith('.'))).toEqual([
      'talk.mul.mp4',
      'talk.mul.sample.mp4',
    ]);
  });
});

it(
  'one file has the subtitles of each language, and those of the source where they are kept',
  PATIENCE,
  async () => {
    const vloc = await startStaging();
    const words = [...ONE, '--from-subtitles', '--to', 'es,fr', '--subtitle-output', 'soft'];
    const made = await vloc.run(words);
    expect(made.code, made.stderr).toBe(0);
    expect(tracksOf(vloc.path('out/talk.mul.mp4'), 's')).toEqual(['1 spa Spanish', '0 fra French']);
    const [first] = readCues(vloc.path('out/talk.mul.mp4'));
    expect(first?.text).toBe('GOOD MORNING');
    // An edited translation makes its language again, and the file.
    await vloc.edit('talk.es.srt', 'GOOD MORNING', 'BUENOS');
    const edited = await vloc.run(words);
    expect(edited.code, edited.stderr).toBe(0);
    expect(readCues(vloc.path('out/talk.mul.mp4'))[0]?.text).toBe('BUENOS');
    const only = await vloc.run([...words, '--mode', 'subtitles_only']);
    expect(only.code, only.stderr).toBe(0);
    expect(tracksOf(vloc.path('out/talk.mul.mp4'), 'a')).toHaveLength(1);
    expect(tracksOf(vloc.path('out/talk.mul.mp4'), 's')).toHaveLength(2);
  },
);
