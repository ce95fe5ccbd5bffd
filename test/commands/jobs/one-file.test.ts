/**
 * `--one-file`, from the command to the tracks of the file. Its items are tested in `batch/inputs`, when it is made again in
 * `batch/plan`, its tracks in `media/export`.
 */
import { existsSync, readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { ffprobe } from '../../engines/workspace.ts';
import { readCues } from '../../support/media.ts';
import { type Staging, startStaging } from '../stages/staging.ts';
import { expectKilled, killingPath, spawnVloc } from '../support/killed-vloc.ts';

/** Engines that cannot make French until they are allowed to. */
async function startWithoutFrench() {
  let isAllowed = false;
  const refuse = ({ targetLanguage }: { readonly targetLanguage: string }) => {
    if (targetLanguage === 'fr' && !isAllowed)
      throw new JobFailure('LANGUAGE_NOT_SUPPORTED', 'no French today');
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

const FILE = 'out/talk.mul.mp4';

/** What ffprobe says of its streams of a kind: language, and whether players start with it. */
function tracksOf(vloc: Staging, streams: 'a' | 's' = 'a'): string[] {
  const rows = ffprobe(vloc.path(FILE), 'stream_disposition=default:stream_tags=language', streams).split(
    '\n',
  );
  return Array.from({ length: rows.length / 2 }, (_, at) => rows.slice(2 * at, 2 * at + 2).join(' '));
}

const namesIn = (vloc: Staging) => readdirSync(vloc.path('out')).filter((name) => /\.m(4a|p4)$/.test(name));

const jobsOf = async (vloc: Staging) => {
  const { json } = await vloc.caller.get('/v1/auto-localizations?limit=50');
  return json.data.length;
};

const ONE = ['localize', 'talk.mp4', '--from', 'en', '--one-file', '--out', 'out'];

it('a file of jobs has the languages that could be made, each with its sound beside it, and then pays only for the missing one', async () => {
  const { vloc, allow } = await startWithoutFrench();
  const words = [...ONE, '--to', 'fr,es', '--sound-only', '--provenance'];
  const failed = await vloc.run(words);
  expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining('no French today')]);
  expect(tracksOf(vloc)).toEqual(['1 spa', '0 eng']);
  expect(namesIn(vloc)).toEqual(['talk.es.m4a', 'talk.mul.mp4']);
  // What was made says no more.
  for (const name of namesIn(vloc))
    expect(await readProvenance(vloc.path(`out/${name}`))).toMatchObject({ to: ['es'] });
  allow();
  const retried = await vloc.run(['batch', 'retry', 'out', '--all']);
  expect(retried.code, retried.stderr).toBe(0);
  expect(tracksOf(vloc)).toEqual(['1 fra', '0 spa', '0 eng']);
  expect(namesIn(vloc)).toEqual(['talk.es.m4a', 'talk.fr.m4a', 'talk.mul.mp4']);
  expect(await jobsOf(vloc)).toBe(3);
  const original = await vloc.run([...words, '--default', 'original', '-o', 'plain']);
  expect(original.code, original.stderr).toBe(0);
  expect(original.stdout.trim().split('\n').sort()).toEqual(
    namesIn(vloc).map((name) => vloc.path(`out/${name}`)),
  );
  expect(tracksOf(vloc)).toEqual(['1 eng', '0 fra', '0 spa']);
  expect(await jobsOf(vloc)).toBe(3);
});

it('a file of stages has the languages that could be made, with their edited subtitles and its provenance', async () => {
  const { vloc, allow } = await startWithoutFrench();
  const words = (to: string) => [...ONE, '--to', to, '--subtitle-output', 'soft', '--provenance'];
  const stages = (to: string) => vloc.run([...words(to), '--from-subtitles']);
  const none = await stages('fr');
  // As without the option.
  expect([none.code, none.stderr]).toEqual([5, expect.stringContaining('no language of it could be made')]);
  expect(existsSync(vloc.path(FILE))).toBe(false);
  const status = await vloc.run(['batch', 'status', 'out', '-o', 'json']);
  expect([status.code, JSON.parse(status.stdout).counts]).toMatchObject([3, { failed: 2, waiting: 0 }]);
  const failed = await stages('fr,es');
  expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining('no French today')]);
  expect(tracksOf(vloc)).toEqual(['1 spa', '0 eng']);
  allow();
  await vloc.edit('talk.es.srt', 'GOOD MORNING', 'BUENOS');
  const made = await vloc.run([...words('es,fr'), '--from-subtitles', '--retry-failed']);
  expect(made.code, made.stderr).toBe(0);
  expect([tracksOf(vloc), tracksOf(vloc, 's')]).toEqual([
    ['1 spa', '0 fra', '0 eng'],
    ['1 spa', '0 fra'],
  ]);
  expect(readCues(vloc.path(FILE))[0]?.text).toBe('BUENOS');
  const all = readdirSync(vloc.path('out'), { recursive: true, encoding: 'utf8' });
  expect(all.filter((name) => name.endsWith('.provenance.json'))).toEqual(['talk.mul.provenance.json']);
  const verified = await vloc.run(['verify', FILE, '-o', 'json']);
  expect(verified.code, verified.stderr).toBe(0);
  const [{ tag, provenance }] = JSON.parse(verified.stdout).data;
  expect([tag.to, provenance.to]).toEqual([
    ['es', 'fr'],
    ['es', 'fr'],
  ]);
  const steps = provenance.steps.map(({ step }: { step: string }) => step);
  expect(steps).toEqual(['recognize', 'translate', 'speak', 'separate']);
});

it('a file is made again by the next run if this one is killed while it is written, and nothing is paid twice', async () => {
  const vloc = await startStaging();
  const words = [...ONE, '--to', 'es,fr'];
  const env = { PATH: killingPath('ffmpeg', 'with-tracks.mp4'), ...vloc.env };
  await expectKilled(spawnVloc(words, { folder: vloc.folder, env }));
  expect(existsSync(vloc.path(FILE))).toBe(false);
  const after = await vloc.run(words);
  expect(after.code, after.stderr).toBe(0);
  expect(tracksOf(vloc)).toEqual(['1 spa', '0 fra', '0 eng']);
  expect(await jobsOf(vloc)).toBe(2);
});
