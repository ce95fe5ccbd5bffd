/** `vloc translate --terms` with translators that lose terms. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Engines } from '../../../src/engines/engine.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { startVloc, type VlocScene } from '../support/run-vloc.ts';
import { LIMITS } from './limits.ts';

/** Small engines with a translator of words. */
function translatorOf(translate: (text: string) => string): Engines {
  const small = createSmallEngines();
  return {
    ...small,
    run: {
      ...small.run,
      async subtitle_translation(task) {
        const lines = task.lines.map((line) => ({ ...line, text: translate(line.text) }));
        return { subtitle: { language: task.targetLanguage, lines } };
      },
    },
  };
}

function srtOf(texts: readonly string[]): string {
  const time = (ms: number) => new Date(ms).toISOString().slice(11, 23).replace('.', ',');
  return texts
    .map((text, at) => `${at + 1}\n${time(at * 2000)} --> ${time(at * 2000 + 1500)}\n${text}\n`)
    .join('\n');
}

interface Loss {
  readonly file: string;
  readonly row: number;
  readonly term: string;
  readonly expected: string;
  readonly missing: number;
}

/** The losses of each input in a document of outcomes. */
function lossesIn(document: string): Record<string, readonly Loss[]> {
  const { data } = JSON.parse(document);
  return Object.fromEntries(
    data.map((item: { input: string; provenance?: { lost_terms?: readonly Loss[] } }) => [
      item.input,
      item.provenance?.lost_terms ?? [],
    ]),
  );
}

async function openDesk(translate: (text: string) => string): Promise<VlocScene> {
  const vloc = await startVloc({ engines: translatorOf(translate) });
  await writeFile(join(vloc.folder, 'terms.csv'), 'term,es,note\nAcme,=,\nboard*,consejo*,\niPhone*,=,\n');
  await writeFile(join(vloc.folder, 'talk.srt'), srtOf(['the board of Acme', 'hello', 'an iPhone by Acme']));
  return vloc;
}

const TRANSLATE = ['translate', 'talk.srt', '--from', 'en', '--to', 'es', '--terms', 'terms.csv'];
/** Loses `board` in the first cue and `Acme` in the third. */
const careless = (text: string) => text.replace('board', 'mesa').replace('by Acme', 'de Acmé');

describe('a translation without its terms', () => {
  it('is reported with its place and what is there instead on stderr, in JSON and in all reports on the batch, and the exit code stays 0', async () => {
    const vloc = await openDesk(careless);
    const { code, stderr, stdout } = await vloc.run([...TRANSLATE, '--output', 'json']);
    expect(code).toBe(0);
    expect(stderr).toContain(
      '! TERM_LOST talk.es.srt, cue 1: "consejo*" for "board*" is missing in "the mesa of Acme"\n',
    );
    expect(stderr).toContain(
      '! TERM_LOST talk.es.srt, cue 3: "Acme" is missing in "an iPhone de Acmé"; --mask-terms keeps it\n',
    );
    const file = join(vloc.folder, 'talk.es.srt');
    expect(lossesIn(stdout)['talk.srt']).toEqual([
      { file, row: 1, term: 'board*', expected: 'consejo*', missing: 1, text: 'the mesa of Acme' },
      { file, row: 3, term: 'Acme', expected: 'Acme', missing: 1, text: 'an iPhone de Acmé' },
    ]);

    const report = (...words: string[]) => vloc.run(['batch', 'report', '.', ...words]);
    const { stdout: markdown } = await report();
    expect(markdown).toContain('## Lost terms');
    expect(markdown).toContain('| talk.es.srt, cue 1 | board\\* | consejo\\* | 1 | the mesa of Acme |');
    const { stdout: junit } = await report('--format', 'junit');
    expect(junit).toContain(
      'TERM_LOST talk.es.srt, cue 3: &quot;Acme&quot; is missing in &quot;an iPhone de Acmé&quot;; --mask-terms keeps it</system-err>',
    );
    expect(junit).toContain('failures="0"');
    const { stdout: json } = await report('--output', 'json');
    expect(JSON.parse(json).items[0].provenance.lost_terms).toHaveLength(2);
    await report('--html');
    const page = await readFile(join(vloc.folder, 'report.html'), 'utf8');
    expect(page).toContain('TERM_LOST talk.es.srt, cue 1');
    const status = await vloc.run(['batch', 'status', '.', '--all']);
    expect(status.stderr).toContain('TERM_LOST talk.es.srt, cue 1');
    expect(status.stdout).toContain('lost terms: 2');
  });

  it('is checked again by the next run, also if only that one has --terms', async () => {
    const vloc = await openDesk(careless);
    const first = await vloc.run(TRANSLATE.slice(0, -2));
    expect(first.stderr).not.toContain('TERM_LOST');
    const second = await vloc.run(TRANSLATE);
    expect([second.code, second.stderr]).toEqual([
      0,
      expect.stringContaining('TERM_LOST talk.es.srt, cue 1'),
    ]);
    await writeFile(join(vloc.folder, 'terms.csv'), 'term,es\nAcme,Acm*\n');
    const third = await vloc.run(TRANSLATE);
    expect(third.stderr).not.toContain('TERM_LOST');
    const { stdout: report } = await vloc.run(['batch', 'report', '.']);
    expect(report).toContain('1 done');
    expect(report).not.toContain('Lost terms');
  });

  it('is found in parts by the rows of the joined file', async () => {
    const vloc = await openDesk(careless);
    const texts = Array.from({ length: 2 * LIMITS.lines + 1 }, (_, at) =>
      at % 2 === 0 ? 'hello' : 'by Acme',
    );
    await writeFile(join(vloc.folder, 'talk.srt'), srtOf(texts));
    const { stdout } = await vloc.run([...TRANSLATE, '--split', '--output', 'json'], { limits: LIMITS });
    const rows = lossesIn(stdout)['talk.srt']?.map(({ row }) => row);
    expect(rows).toEqual(texts.flatMap((text, at) => (text === 'hello' ? [] : [at + 1])));
    const { stdout: report } = await vloc.run(['batch', 'report', '.', '--output', 'json']);
    expect(JSON.parse(report).items[0].provenance.lost_terms).toHaveLength(rows?.length ?? 0);
  });

  it('is found in WebVTT, on stdout, and in the translation of a job', async () => {
    const vloc = await openDesk(careless);
    const vtt = await vloc.run([...TRANSLATE, '--subtitle-format', 'vtt']);
    expect(vtt.stderr).toContain('TERM_LOST talk.es.vtt, cue 1');
    const stdout = await vloc.run([...TRANSLATE, '--out', '-']);
    expect(stdout.stderr).toContain('TERM_LOST -, cue 1');
    const { stdout: id } = await vloc.run(['translate', 'talk.srt', '--to', 'fr', '--output', 'id']);
    const words = ['translate', id.trim(), '--from', 'fr', '--to', 'es', '--terms', 'terms.csv'];
    await writeFile(join(vloc.folder, 'terms.csv'), 'term,es\nhello,hola\n');
    const ofJob = await vloc.run(words);
    expect(ofJob.stderr).toMatch(/TERM_LOST \S+\.es\.srt, cue 2: "hola" for "hello" is missing in "hello"/);
  });
});

it('a file of terms that cannot be used is refused before anything is sent', async () => {
  const vloc = await openDesk(careless);
  await writeFile(join(vloc.folder, 'terms.csv'), 'term,fr\nAcme,=\nAcme,=\n');
  for (const words of [TRANSLATE, [...TRANSLATE, '--dry-run']]) {
    const { code, stderr } = await vloc.run(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining('row 2 has the term "Acme" of row 1 again')]);
  }
  expect((await vloc.caller.get('/v1/subtitle-translations')).json.data).toEqual([]);
});

it('a language without a column is reported, and the others are checked', async () => {
  const vloc = await openDesk(careless);
  const { code, stderr } = await vloc.run([...TRANSLATE.slice(0, -3), 'es,fr', '--terms', 'terms.csv']);
  expect(code).toBe(0);
  expect(stderr).toContain('terms.csv has no terms for fr; translations into it are not checked.');
  expect(stderr).toContain('TERM_LOST talk.es.srt, cue 1');
});

describe('--mask-terms', () => {
  const MASKED = [...TRANSLATE, '--mask-terms'];
  const jobsOf = async (vloc: VlocScene) =>
    (await vloc.caller.get('/v1/subtitle-translations?limit=50')).json.data.length;

  it('sends cues again as they are whose placeholders are lost, and pays no job twice', async () => {
    const sent: string[] = [];
    const vloc = await openDesk((text) => {
      sent.push(text);
      return text.replace('{T3}', '').replace('Acme', 'ACMÉ').replace('board', 'consejo');
    });
    const { code, stdout, stderr } = await vloc.run([
      ...MASKED,
      '--subtitle-format',
      'vtt',
      '--output',
      'json',
    ]);
    expect(code, stderr).toBe(0);
    expect(sent.slice(3)).toEqual(['an iPhone by Acme']);
    const result = await readFile(join(vloc.folder, 'talk.es.vtt'), 'utf8');
    expect(result).toContain('the consejo of Acme\n');
    expect(result).toContain('an iPhone by ACMÉ\n');
    expect(lossesIn(stdout)['talk.srt']).toMatchObject([{ row: 3, term: 'Acme', is_masked: true }]);
    // What did not help is not advised again.
    expect(stderr).toMatch(/TERM_LOST talk\.es\.vtt, cue 3: "Acme" is missing in "an iPhone by ACMÉ"$/m);
    // Three lines and one again.
    expect(JSON.parse(stdout).data[0].charged_credits).toBe(4);
    const { stdout: report } = await vloc.run(['batch', 'report', '.', '--output', 'json']);
    expect(JSON.parse(report).items).toMatchObject([{ state: 'done', credits: { charged: 4 }, attempts: 2 }]);
    await vloc.run([...MASKED, '--subtitle-format', 'vtt']);
    expect(await jobsOf(vloc)).toBe(2);
    // A result that is gone is made of the same jobs, and only with the placeholders.
    await rm(join(vloc.folder, 'talk.es.vtt'));
    const plain = await vloc.run([...TRANSLATE, '--subtitle-format', 'vtt']);
    expect([plain.code, plain.stderr]).toEqual([2, expect.stringContaining('--mask-terms')]);
    const again = await vloc.run([...MASKED, '--subtitle-format', 'vtt']);
    expect(again.code, again.stderr).toBe(0);
    expect(await readFile(join(vloc.folder, 'talk.es.vtt'), 'utf8')).toBe(result);
    expect(await jobsOf(vloc)).toBe(2);
  });

  it('is continued where --max-credits has stopped it, and then costs no more than the second job', async () => {
    const vloc = await openDesk((text) => text.replace('{T3}', ''));
    const stopped = await vloc.run([...MASKED, '--max-credits', '3', '--output', 'json']);
    expect([stopped.code, stopped.stderr]).toEqual([6, expect.stringContaining('max-credits')]);
    expect(await jobsOf(vloc)).toBe(1);
    const { code, stdout } = await vloc.run([...MASKED, '--output', 'json']);
    expect([code, JSON.parse(stdout).data[0].charged_credits]).toEqual([0, 4]);
    expect(await jobsOf(vloc)).toBe(2);
  });

  it('without terms is refused', async () => {
    const vloc = await openDesk(careless);
    const { code, stderr } = await vloc.run([...TRANSLATE.slice(0, -2), '--mask-terms']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('Name their file with --terms')]);
  });
});
