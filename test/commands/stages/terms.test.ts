/** `vloc localize --terms`, which runs in stages. */
import { writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { type Staging, startStaging } from './staging.ts';

const LOCALIZE = ['localize', 'talk.mp4', '--to', 'es', '--terms', 'terms.csv'];
/** A translation is checked before it is dubbed. */
const STOP = ['--stop-after', 'translate'];

/** The engines of the staging write in capitals, so `good` is lost in both cues, and `morning` is kept. */
async function stagingWithTerms(): Promise<Staging> {
  const vloc = await startStaging();
  await writeFile(vloc.path('terms.csv'), 'term,es\ngood,buen*\nmorning,=\n');
  return vloc;
}

function lostIn(document: string): unknown[] {
  const [{ provenance }] = JSON.parse(document).data;
  return (provenance?.lost_terms ?? []).map(
    ({ row, term }: { row: number; term: string }) => `${row} ${term}`,
  );
}

describe('a localization with terms', () => {
  it('runs in stages, reports lost terms with the file beside the video, and checks it again after an edit', async () => {
    const vloc = await stagingWithTerms();
    const stopped = await vloc.run([...LOCALIZE, ...STOP, '-o', 'json']);
    expect(stopped.code, stopped.stderr).toBe(0);
    expect(
      stopped.stderr.match(/! TERM_LOST talk\.es\.srt, cue [12]: "buen\*" for "good" is missing in/g),
    ).toHaveLength(2);
    expect(lostIn(stopped.stdout)).toEqual(['1 good', '2 good']);
    await vloc.edit('talk.es.srt', 'GOOD MORNING', 'buenos días, morning');
    const { code, stdout, stderr } = await vloc.run([...LOCALIZE, ...STOP, '-o', 'json']);
    expect(code, stderr).toBe(0);
    expect(await vloc.jobs()).toEqual([1, 1, 0, 0]);
    expect(lostIn(stdout)).toEqual(['2 good']);
  });

  it('checks a translation that the user wrote, until its terms are there', async () => {
    const vloc = await stagingWithTerms();
    const cues = (...texts: string[]) =>
      texts.map((text, at) => `${at + 1}\n00:00:0${at},000 --> 00:00:0${at},900\n${text}\n`).join('\n');
    await writeFile(vloc.path('talk.en.srt'), cues('good morning', 'good night'));
    await writeFile(vloc.path('talk.es.srt'), cues('good morning', 'buenas noches'));
    const words = [...LOCALIZE, '--from-subtitles', '--mode', 'subtitles_only', '-o', 'json'];
    const { code, stdout, stderr } = await vloc.run(words);
    expect([code, lostIn(stdout)], stderr).toEqual([0, ['1 good']]);
    const attention = async () => (await vloc.run(['batch', 'report', '.', '--attention'])).stdout;
    const lost = 'talk.es.srt:2: 00:00:00,000 TERM_LOST: "buen*" for "good" is missing in "good morning"';
    expect(await attention()).toContain(lost);
    await vloc.edit('talk.es.srt', 'good morning', 'buenos días, morning');
    expect(await attention()).not.toContain('TERM_LOST');
  });

  it('says that a translation cannot be checked without its source', async () => {
    const vloc = await stagingWithTerms();
    await writeFile(vloc.path('mine.srt'), '1\n00:00:00,000 --> 00:00:01,000\nbuenas\n');
    const { code, stderr } = await vloc.run([
      ...LOCALIZE,
      '--mode',
      'subtitles_only',
      '--subtitle',
      'mine.srt',
    ]);
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('talk.mp4 → es: its terms were not checked');
  });

  it('shows in a dry run what it costs in stages and as one job', async () => {
    const vloc = await stagingWithTerms();
    await writeFile(vloc.path('talk.en.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
    const words = [...LOCALIZE, '--from', 'en', '--from-subtitles', '--dry-run'];
    const { stderr } = await vloc.run([...words, '-o', 'table']);
    expect(stderr).toContain('Cost in stages: not known yet; as one job, without --terms: not known yet.');
    // Jobs of the kinds let the service report their prices.
    const one = await vloc.run(['localize', 'talk.mp4', '--to', 'fr', '--out', 'other']);
    expect(one.code, one.stderr).toBe(0);
    const { stdout } = await vloc.run([...words, '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({ credits: null, one_job_credits: expect.any(Number) });
    expect(await vloc.jobs()).toEqual([0, 0, 0, 0]);
  });

  it('with an option for one job is refused', async () => {
    const vloc = await stagingWithTerms();
    const { code, stderr } = await vloc.run([...LOCALIZE, '--detach']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('--terms works in stages only')]);
    await writeFile(vloc.path('vloc.config.json'), '{ "defaults": { "terms": "terms.csv" } }');
    const staged = await vloc.run(['localize', 'talk.mp4', '--to', 'es', '--dry-run', '-o', 'json']);
    expect(JSON.parse(staged.stdout).object).toBe('stages');
  });
});
