/** The column `say` of --terms: how a dub speaks names that its subtitles keep. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { formatSrt } from '../../../src/protocol/srt.ts';
import type { SubtitleLine } from '../../../src/protocol/subtitle-line.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { differingMs, samplesOf, speakTones } from '../../support/tones.ts';
import { startVloc } from '../support/run-vloc.ts';

const DUB = ['dub', 'talk.srt', '--to', 'es', '--terms', 'terms.csv'];

/** Cues of 2,400 characters together, which are three units, with a name in two of them. */
const LINES: readonly SubtitleLine[] = Array.from({ length: 12 }, (_, at) => ({
  ...{ index: at + 1, start_ms: at * 3000, end_ms: at * 3000 + 800 },
  text: (at === 1 || at === 8 ? `Dr. Müller ${at} ` : `line ${at} `).padEnd(200, '.'),
}));

async function startDub(lines = LINES) {
  const spoken: string[][] = [];
  const small = createSmallEngines();
  const dubbing: typeof small.run.dubbing = async ({ lines: sent }, work) => {
    const path = join(work.folder, 'dub.wav');
    spoken.push(sent.map(({ text }) => text.replace(/ ?\d+ \.*$/, '')));
    writeFileSync(path, speakTones(sent, { pitch: 110, level: 0.3 }));
    return { audio: { path, contentType: 'audio/wav' }, durationSeconds: 1 };
  };
  const vloc = await startVloc({ engines: { ...small, run: { ...small.run, dubbing } } });
  const path = (name: string) => join(vloc.folder, name);
  const run = async (...words: string[]) => {
    const ended = await vloc.run(words, { env: { PATH: rememberingPath() } });
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  writeFileSync(path('talk.srt'), formatSrt(lines));
  return {
    ...{ vloc, spoken, path, run },
    say: (text: string) => writeFileSync(path('terms.csv'), `term,say:es\nDr. Müller,${text}\n`),
    track: () => samplesOf(readFileSync(path('talk.es.wav'))),
    charges: async (): Promise<number[]> => {
      const { json } = await vloc.caller.get('/v1/credit-transactions?limit=50');
      return json.data.map(({ amount }: { amount: number }) => -amount).toReversed();
    },
  };
}

const quantityOf = ({ stdout }: { stdout: string }) => JSON.parse(stdout).quantity;

it('a name is spoken as say writes it, costs what --dry-run said, and the subtitles keep it', async () => {
  const desk = await startDub();
  const subtitles = readFileSync(desk.path('talk.srt'), 'utf8');
  desk.say(`Doktor Müller ${'x'.repeat(400)}`);
  expect(quantityOf(await desk.run(...DUB, '--dry-run', '-o', 'json'))).toBe(4);
  await desk.run(...DUB);
  expect(desk.spoken[0]?.filter((text) => text.startsWith('Doktor Müller'))).toHaveLength(2);
  expect(desk.spoken[0]?.filter((text) => text.startsWith('Dr.'))).toEqual([]);
  expect(await desk.charges()).toEqual([4]);
  expect(readFileSync(desk.path('talk.srt'), 'utf8')).toBe(subtitles);
  expect((await desk.run(...DUB)).stderr).toContain('Nothing to do');
});

it('a changed say dubs the cues with the name only, and another changed term none', async () => {
  const desk = await startDub();
  desk.say('Doktor Müller');
  await desk.run(...DUB);
  const before = desk.track();
  desk.say('Doktor Miller');
  expect(quantityOf(await desk.run(...DUB, '--dry-run', '-o', 'json'))).toBe(1);
  await desk.run(...DUB);
  expect(desk.spoken.slice(1)).toEqual([['Doktor Miller', 'Doktor Miller']]);
  expect(differingMs(before, desk.track())).toEqual([
    expect.closeTo(3000, -2),
    expect.toSatisfy((ms: number) => ms >= 24_000 && ms < 27_000),
  ]);
  writeFileSync(desk.path('terms.csv'), 'term,say:es,es\nDr. Müller,Doktor Miller,\nAcme,Ekmi,=\n');
  expect((await desk.run(...DUB)).stderr).toContain('Nothing to do');
  expect(await desk.charges()).toEqual([3, 1]);
});

it('a changed say is named where the dub has been edited, which is left as it is', async () => {
  const desk = await startDub();
  desk.say('Doktor Müller');
  await desk.run(...DUB);
  appendFileSync(desk.path('talk.es.wav'), Buffer.alloc(2));
  const refused = async () => (await desk.vloc.run(DUB)).stderr;
  desk.say('Doktor Miller');
  expect(await refused()).toContain(
    'its input changed since the job was made: "Dr. Müller" is spoken as "Doktor Miller", its result was edited',
  );
  writeFileSync(desk.path('terms.csv'), 'term,say:es\nAcme,Ekmi\n');
  expect(await refused()).toContain('names are spoken as they are written, its result was edited');
  writeFileSync(desk.path('talk.srt'), formatSrt(LINES.slice(1)));
  expect(await refused()).toContain('other subtitles, its result was edited');
});

it('each speaker and each part speaks names as say writes them', async () => {
  const desk = await startDub();
  desk.say('Doktor Müller');
  const cue = (second: number, text: string) => `00:0${second}.000 --> 00:0${second}.900\n${text}\n`;
  const cues = [cue(0, '<v Anna>Dr. Müller'), cue(1, '<v Ben>I am Dr. Müller'), cue(2, 'dr. müller')];
  writeFileSync(desk.path('talk.vtt'), ['WEBVTT\n', ...cues].join('\n'));
  await desk.run('dub', 'talk.vtt', ...DUB.slice(2), '--voices', 'anna=female');
  expect(desk.spoken.flat().toSorted()).toEqual(['Doktor Müller', 'Doktor Müller', 'I am Doktor Müller']);
});

it('subtitles that the service reads are refused where a name would be replaced', async () => {
  const desk = await startDub();
  desk.say('Doktor Müller');
  for (const input of ['https://example.com/talk.srt', 'upl_0123456789abcdefghjkmnpqrs']) {
    const { code, stderr } = await desk.vloc.run(['dub', input, ...DUB.slice(2)]);
    expect([code, stderr]).toEqual([2, expect.stringContaining('download it first')]);
  }
  writeFileSync(desk.path('terms.csv'), 'term,es,say:fr\nAcme,=,Ekmi\n');
  const { stderr } = await desk.vloc.run([
    'dub',
    'https://example.com/talk.srt',
    ...DUB.slice(2),
    '--dry-run',
  ]);
  expect(stderr).toContain('terms.csv has no say for es; dubs into it speak names as they are written.');
});
