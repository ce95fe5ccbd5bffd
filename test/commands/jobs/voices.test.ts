import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createWav, openWav } from '../../../src/media/audio/wav.ts';
import type { ServiceOptions } from '../../../src/service/index.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { rememberingPath } from '../../support/remembered-programs.ts';
import { startVloc } from '../support/run-vloc.ts';

const VTT = `WEBVTT

00:00.000 --> 00:01.000
<v Anna>good morning

00:00.500 --> 00:01.500
<v Ben>good night

00:02.000 --> 00:03.000
who says this

00:03.000 --> 00:04.000
<v ANNA>goodbye
`;
const DUB = ['dub', 'talk.vtt', '--to', 'es', '--voices', 'anna=female,ben=male'];
/** The sample with which each voice fills its cues. */
const LEVELS = { auto: 1000, female: 2000, male: 4000 };
const RATE = 8000;

/** Starts it with `talk.vtt` and with engines whose voices are heard in the samples. */
async function startDubbing(options: Partial<ServiceOptions> = {}, subtitle = VTT) {
  const small = createSmallEngines();
  const sent: string[] = [];
  const engines: typeof small = {
    ...small,
    run: {
      ...small.run,
      async dubbing({ lines, voiceMode }, { folder }) {
        sent.push(`${voiceMode}: ${lines.map(({ index, text }) => `${index} ${text}`).join(' | ')}`);
        const path = join(folder, 'dub.wav');
        const wav = await createWav(path, { sampleRate: RATE, channels: 1 });
        for (const { start_ms: start, end_ms: end } of lines) {
          await wav.write(new Int16Array((start / 1000) * RATE - wav.frames));
          await wav.write(new Int16Array(((end - start) / 1000) * RATE).fill(LEVELS[voiceMode]));
        }
        await wav.close();
        return { audio: { path, contentType: 'audio/wav' }, durationSeconds: wav.frames / RATE };
      },
    },
  };
  const vloc = await startVloc({ engines, ...options });
  await writeFile(join(vloc.folder, 'talk.vtt'), subtitle);
  const count = async () => (await vloc.caller.get('/v1/dubbings?limit=50')).json.data.length;
  const run = (...words: readonly string[]) => vloc.run(words, { env: { PATH: rememberingPath() } });
  return { ...vloc, run, sent, count };
}

/** The sample in the middle of each half second. */
async function hear(path: string): Promise<readonly number[]> {
  const wav = await openWav(path);
  onTestFinished(() => wav.close());
  expect(wav.sampleRate).toBe(RATE);
  const samples: number[] = [];
  for (let at = RATE / 4; at < wav.frames; at += RATE / 2) samples.push((await wav.read(at, 1))[0] ?? 0);
  return samples;
}

const MIXED = [2000, 6000, 4000, 0, 1000, 1000, 2000, 2000];

it('each speaker is sent in a job of its own, everyone else in one, and they are heard at their times', async () => {
  const vloc = await startDubbing();
  const { code, stderr } = await vloc.run(...DUB);
  expect(code, stderr).toBe(0);
  expect(vloc.sent.toSorted()).toEqual([
    'auto: 1 who says this',
    'female: 1 good morning | 2 goodbye',
    'male: 1 good night',
  ]);
  expect(await hear(join(vloc.folder, 'talk.es.wav'))).toEqual(MIXED);
  // Done is done, and another voice is a change that replaces nothing unasked.
  expect((await vloc.run(...DUB)).code).toBe(0);
  const changed = await vloc.run(...DUB.slice(0, -1), 'anna=male,ben=male');
  expect([changed.code, await vloc.count()]).toEqual([2, 3]);
  expect(changed.stderr).toContain('voices {"anna":"female","ben":"male"} → {"anna":"male","ben":"male"}');
});

it('--dry-run shows the jobs with the units of each, and sends nothing', async () => {
  const vloc = await startDubbing();
  const table = await vloc.run(...DUB, '--voice-mode', 'male', '--dry-run');
  expect(table.code, table.stderr).toBe(0);
  expect(table.stderr).toContain(
    'talk.vtt: 3 jobs, whose sound is mixed here: Anna (female, 1 started thousand characters), Ben (male, 1 started thousand characters), everyone else (male, 1 started thousand characters); each speaker begins a unit of their own.',
  );
  expect(table.stderr).toContain('New jobs: 3, 3 started thousands of characters.');
  const { stdout } = await vloc.run(...DUB, '--dry-run', '-o', 'json');
  const unit = { unit: 'started_thousand_characters', quantity: 1 };
  expect(JSON.parse(stdout)).toMatchObject({
    jobs: 3,
    quantity: 3,
    items: [
      {
        parts: 3,
        speakers: [
          { speaker: 'Anna', voice_mode: 'female', cues: 2, ...unit },
          { speaker: 'Ben', voice_mode: 'male', cues: 1, ...unit },
          { speaker: null, voice_mode: 'auto', cues: 1, ...unit },
        ],
      },
    ],
  });
  expect(await vloc.count()).toBe(0);
});

it('lines as JSON may name their speakers', async () => {
  const vloc = await startDubbing();
  const line = (index: number, speaker: string | null) => ({
    ...{ index, start_ms: index * 1000, end_ms: index * 1000 + 1000, text: `line ${index}`, speaker },
  });
  await writeFile(join(vloc.folder, 'talk.json'), JSON.stringify([line(1, ' Ben\n'), line(2, null)]));
  const dub = ['dub', 'talk.json', '--to', 'es', '--voices', 'ben=male', '--dry-run', '-o', 'json'];
  const { code, stdout, stderr } = await vloc.run(...dub);
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).items).toMatchObject([{ speakers: [{ speaker: 'Ben' }, { speaker: null }] }]);
  const words = ['translate', 'talk.json', '--from', 'en', '--to', 'es', '--subtitle-format', 'vtt'];
  expect((await vloc.run(...words)).code).toBe(0);
  expect(await readFile(join(vloc.folder, 'talk.es.vtt'), 'utf8')).toContain('<v Ben>LINE 1\n');
});

it('--voices that cannot be followed is refused before anything is sent', async () => {
  const vloc = await startDubbing();
  for (const [voices, problem] of [
    ['ana=female', 'no cue is spoken by ana; did you mean Anna? The speakers are Anna, Ben'],
    ['anna', 'invalid --voices "anna": expected name=voice'],
    ['anna=female,Anna=male', '--voices names Anna twice'],
    ['anna=femal', 'there is no voice "femal"; did you mean female?'],
  ] as const) {
    const { code, stderr } = await vloc.run(...DUB.slice(0, -1), voices);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  }
  expect(await vloc.count()).toBe(0);
});

it('inputs that cannot say who speaks are refused before anything is sent', async () => {
  const vloc = await startDubbing();
  await writeFile(join(vloc.folder, 'talk.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
  const dub = (input: string) => vloc.run('dub', input, '--to', 'es', '--voices', 'anna=female');
  expect((await dub('talk.srt')).stderr).toContain('SRT has no place for names');
  expect((await dub('https://example.com/talk.vtt')).stderr).toContain('does not say who speaks');
  expect(await vloc.count()).toBe(0);
});
