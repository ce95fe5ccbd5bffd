/**
 * `--one-file`, from the command to the tracks of the file. Its items are tested in `batch/inputs`, when it is made again in
 * `batch/plan`, its tracks in `media/export`.
 */
import { readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { readProvenance } from '../../../src/batch/provenance-file.ts';
import { readMark } from '../../../src/media/export/mark.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { ffprobe } from '../../engines/workspace.ts';
import { readCues } from '../../support/media.ts';
import { type Staging, startStaging } from '../stages/staging.ts';
import { srtCue } from '../subtitles/desk.ts';

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

const commentOf = (vloc: Staging) => ffprobe(vloc.path(FILE), 'format_tags=comment');

const ONE = ['localize', 'talk.mp4', '--from', 'en', '--one-file', '--out', 'out'];

it('a file of jobs has the languages that could be made, if any, and the next run pays only for the missing one', async () => {
  const { vloc, allow } = await startWithoutFrench();
  const none = await vloc.run([...ONE.with(-1, 'none'), '--to', 'fr']);
  expect([none.code, none.stderr]).toEqual([5, expect.stringContaining('no language of it could be made')]);
  const words = [...ONE, '--to', 'fr,es', '--default', 'original', '--provenance'];
  const failed = await vloc.run([...words, '-o', 'plain']);
  expect([failed.code, failed.stderr]).toEqual([3, expect.stringContaining('no French today')]);
  expect(tracksOf(vloc)).toEqual(['1 eng', '0 spa']);
  expect(failed.stdout.trim()).toBe(vloc.path(FILE));
  // What was made says no more.
  expect(await readProvenance(vloc.path(FILE))).toMatchObject({ to: ['es'] });
  allow();
  const next = await vloc.run([...words, '--retry-failed', '--dry-run', '-o', 'json']);
  expect(next.code, next.stderr).toBe(0);
  expect(JSON.parse(next.stdout)).toMatchObject({ jobs: 1, done_before: 1 });
});

it('a file of stages has its languages with their edited subtitles and its provenance', async () => {
  const vloc = await startStaging();
  const stages = [...ONE, '--from-subtitles', '--original-audio', 'mute', '--subtitle-output', 'soft'];
  await writeFile(vloc.path('talk.en.srt'), srtCue(1, 0, 1, 'good day'));
  const made = await vloc.run([...stages, '--to', 'es,fr', '--provenance']);
  expect(made.code, made.stderr).toBe(0);
  expect([tracksOf(vloc), tracksOf(vloc, 's')]).toEqual([
    ['1 spa', '0 fra', '0 eng'],
    ['1 spa', '0 fra'],
  ]);
  expect(readCues(vloc.path(FILE))[0]?.text).toBe('GOOD DAY');
  const all = readdirSync(vloc.path('out'), { recursive: true, encoding: 'utf8' });
  expect(all.filter((name) => name.endsWith('.provenance.json'))).toEqual(['talk.mul.provenance.json']);
  const [tag, provenance] = [readMark(commentOf(vloc)), await readProvenance(vloc.path(FILE))];
  expect([tag?.to, provenance?.to]).toEqual([
    ['es', 'fr'],
    ['es', 'fr'],
  ]);
  expect(provenance?.steps.map(({ step }) => step)).toEqual(['recognize', 'translate', 'speak']);
});
