/** Translations that come back with cues missing: kept, reported, completed by a person, and never paid again. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Engines } from '../../../src/engines/engine.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { linesOf, startVloc, type VlocScene } from '../support/run-vloc.ts';

const timeOf = (ms: number) => new Date(ms).toISOString().slice(11, 23).replace('.', ',');

/** Cues of two seconds each. */
function srtOf(texts: readonly string[], first = 0): string {
  return texts
    .map((text, at) => {
      const ms = (first + at) * 2000;
      return `${at + 1}\n${timeOf(ms)} --> ${timeOf(ms + 1500)}\n${text}\n`;
    })
    .join('\n');
}

const TALK = Array.from({ length: 10 }, (_, at) => `Sentence ${at + 1} of ten.`);

interface Desk extends VlocScene {
  /** What each job was sent. */
  readonly sent: (readonly string[])[];
  readonly path: (name: string) => string;
  readonly read: (name: string) => Promise<string>;
}

/** A service that returns what `answer` makes of the lines, and a file of ten sentences. */
async function openDesk(answer: (lines: readonly SubtitleLine[]) => readonly SubtitleLine[]): Promise<Desk> {
  const sent: (readonly string[])[] = [];
  const small = createSmallEngines();
  const engines: Engines = {
    ...small,
    run: {
      ...small.run,
      async subtitle_translation({ lines, targetLanguage }) {
        sent.push(lines.map(({ text }) => text));
        return { subtitle: { language: targetLanguage, lines: [...answer(lines)] } };
      },
    },
  };
  const vloc = await startVloc({ engines });
  const path = (name: string) => join(vloc.folder, name);
  await writeFile(path('talk.srt'), srtOf(TALK));
  return { ...vloc, sent, path, read: (name) => readFile(path(name), 'utf8') };
}

const translated = (lines: readonly SubtitleLine[]) =>
  lines.map((line, at) => ({ ...line, index: at + 1, text: line.text.toUpperCase() }));
/** Only the first two come back. */
const twoOf = (lines: readonly SubtitleLine[]) => translated(lines.slice(0, 2));

/** All come back without a text. */
const blank = (lines: readonly SubtitleLine[]) => lines.map((line) => ({ ...line, text: ' ' }));

const TRANSLATE = ['translate', 'talk.srt', '--from', 'en', '--to', 'es'];
const NAMED =
  '8 cues have no translation: 3 at 00:00:04,000 "Sentence 3 of ten.", 4 at 00:00:06,000 "Sentence 4 of ten.", ' +
  '5 at 00:00:08,000 "Sentence 5 of ten.", 6 at 00:00:10,000 "Sentence 6 of ten.", ' +
  '7 at 00:00:12,000 "Sentence 7 of ten." and 3 more';

/** The numbers of the missing cues of each outcome. */
function missingIn(stdout: string): (readonly number[])[] {
  return JSON.parse(stdout).data.map(
    ({ provenance }: { provenance?: { missing_cues?: readonly { cue: number }[] } }) =>
      (provenance?.missing_cues ?? []).map(({ cue }) => cue),
  );
}

describe('a translation with cues missing', () => {
  it('fails with the cues that are missing, and its file is kept', async () => {
    const desk = await openDesk(twoOf);
    const { code, stdout, stderr } = await desk.run([...TRANSLATE, '-o', 'json']);
    expect(code, stderr).toBe(5);
    const [{ status, error }] = JSON.parse(stdout).data;
    expect([status, error]).toEqual([
      'succeeded',
      { code: 'CUES_MISSING', message: NAMED, request_id: null, retryable: false },
    ]);
    expect(missingIn(stdout)).toEqual([[3, 4, 5, 6, 7, 8, 9, 10]]);
    expect(await desk.read('talk.es.srt')).toContain('SENTENCE 2 OF TEN.');
    const shown = await desk.run(TRANSLATE);
    expect(shown.code).toBe(5);
    expect(shown.stderr.replaceAll(/\s+/g, ' ')).toContain(NAMED);
    expect(shown.stderr).toContain(
      `Add them to ${desk.path('talk.es.srt')}, then run the same command again`,
    );
  });

  it('is in the events, in the state of the batch and in all its reports', async () => {
    const desk = await openDesk(twoOf);
    const run = await desk.run([...TRANSLATE, '-o', 'ndjson']);
    const events = linesOf(run.stdout);
    expect(events.filter(({ type }) => type === 'failed')).toMatchObject([
      { code: 'CUES_MISSING', message: NAMED },
    ]);
    expect(events.filter(({ type }) => type === 'job').map(({ status }) => status)).not.toContain('failed');
    expect(events.find(({ type }) => type === 'provenance').missing_cues).toHaveLength(8);
    expect(events.at(-1)).toMatchObject({ type: 'summary', failed: 1, exit_code: 5 });
    const status = await desk.run(['batch', 'status', '.', '-o', 'json']);
    expect(status.code).toBe(3);
    expect(JSON.parse(status.stdout).items).toMatchObject([
      { state: 'failed', error: { code: 'CUES_MISSING', message: NAMED }, credits: { charged: 2 } },
    ]);
    const junit = await desk.run(['batch', 'report', '.', '--format', 'junit']);
    expect(junit.stdout).toContain('<failure type="CUES_MISSING" message="8 cues have no translation: 3 at');
    const attention = await desk.run(['batch', 'report', '.', '--attention']);
    expect(attention.stdout.match(/ MISSING: it has no translation/g)).toHaveLength(8);
  });

  it('is done when a person has added them, and is not paid again', async () => {
    const desk = await openDesk(twoOf);
    await desk.run(TRANSLATE);
    const again = await desk.run(TRANSLATE);
    expect([again.code, desk.sent.length]).toEqual([5, 1]);
    await writeFile(desk.path('talk.es.srt'), srtOf(TALK.slice(0, 9).map((_, at) => `Frase ${at + 1}.`)));
    const almost = await desk.run([...TRANSLATE, '-o', 'json']);
    expect([almost.code, missingIn(almost.stdout)]).toEqual([5, [[10]]]);
    const dry = await desk.run([...TRANSLATE, '--dry-run', '-o', 'json']);
    expect(JSON.parse(dry.stdout)).toMatchObject({ jobs: 0, done_before: 1 });
    const complete = srtOf(TALK.map((_, at) => `Frase ${at + 1}.`));
    await writeFile(desk.path('talk.es.srt'), complete);
    for (const words of [['batch', 'retry', '.'], TRANSLATE, TRANSLATE]) {
      const { code, stderr } = await desk.run(words);
      expect([words, code], stderr).toEqual([words, 0]);
    }
    expect(await desk.read('talk.es.srt')).toBe(complete);
    expect(desk.sent).toHaveLength(1);
    const { stdout } = await desk.run(['batch', 'status', '.', '-o', 'json']);
    expect(JSON.parse(stdout).items).toMatchObject([{ state: 'done', error: null }]);
    const refilled = await desk.run(['batch', 'report', '.', '--attention']);
    expect(refilled.stdout).not.toContain('MISSING');
  });
});

describe('with a memory', () => {
  it('a file does not shrink in silence when its source is edited', async () => {
    let isCareless = false;
    const desk = await openDesk((lines) => (isCareless ? blank(lines) : translated(lines)));
    expect((await desk.run(TRANSLATE)).code).toBe(0);
    isCareless = true;
    await writeFile(desk.path('talk.srt'), srtOf(TALK.with(4, 'A new one.')));
    const { code, stdout, stderr } = await desk.run([...TRANSLATE, '-o', 'json']);
    expect(code, stderr).toBe(5);
    expect(desk.sent.at(-1)).toEqual(['A new one.']);
    expect(missingIn(stdout)).toEqual([[5]]);
    expect(await desk.read('talk.es.srt')).toContain('SENTENCE 10 OF TEN.');
  });
});

it('a file in the format of its source has the cues that are missing, without words, for a person to fill in', async () => {
  const desk = await openDesk((lines) => translated(lines.slice(0, 1)));
  const cues = [
    '00:00.000 --> 00:01.500 line:10%\n<i>Hello there.</i>',
    '00:02.000 --> 00:03.500\n<i>Goodbye.</i>',
  ];
  await writeFile(desk.path('talk.vtt'), `WEBVTT\n\n${cues.join('\n\n')}\n`);
  const words = TRANSLATE.with(1, 'talk.vtt');
  const first = await desk.run([...words, '-o', 'json']);
  expect([first.code, missingIn(first.stdout)], first.stderr).toEqual([5, [[2]]]);
  const made = await desk.read('talk.es.vtt');
  expect(made).toContain('<i>HELLO THERE.</i>');
  await writeFile(desk.path('talk.es.vtt'), made.replace('<i></i>', '<i>Adiós.</i>'));
  const { code, stderr } = await desk.run(words);
  expect([code, desk.sent.length], stderr).toEqual([0, 1]);
});

it('a result on stdout is not printed as if it were whole', async () => {
  const desk = await openDesk(twoOf);
  const { code, stdout, stderr } = await desk.run([...TRANSLATE, '--out', '-']);
  expect([code, stdout], stderr).toEqual([5, '']);
});

it('several files are each compared with their own source, and the batch ends with 3 if others are done, without an advice to send them again', async () => {
  const desk = await openDesk(twoOf);
  await rm(desk.path('talk.srt'));
  await mkdir(desk.path('in'));
  await writeFile(desk.path('in/a.srt'), srtOf(TALK.slice(0, 3)));
  await writeFile(desk.path('in/b.srt'), srtOf(['Something.', 'Else.']));
  const words = ['translate', 'in', '--from', 'en', '--to', 'es', '--out', 'out', '-o', 'json'];
  const { code, stdout, stderr } = await desk.run(words);
  expect([code, missingIn(stdout)]).toEqual([3, [[3], []]]);
  expect(stderr).toContain('CUES_MISSING');
  expect(stderr).not.toContain('--retry-failed');
});
