/** Stages after the spoken form of a name has changed: only its line is dubbed again. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { formatSrt } from '../../../src/protocol/srt.ts';
import { speakTones } from '../../support/tones.ts';
import { startStaging } from './staging.ts';

const LOCALIZE = [
  ...['localize', 'talk.mp4', '--to', 'es', '--from-subtitles', '--out', 'out', '--terms', 'terms.csv'],
  ...['--original-audio', 'mute'],
];

/** Three lines of 500 characters: two units. */
const TEXTS = ['uno', 'dos', 'tres'].map((text) => text.padEnd(500, '.'));

it('a say of a name is spoken, a changed one is one unit of the dub, and the subtitles keep the name', async () => {
  const spoken: string[][] = [];
  const vloc = await startStaging({}, (run) => ({
    ...run,
    async dubbing({ lines }, work) {
      const path = `${work.folder}/dub.wav`;
      spoken.push(lines.map(({ text }) => text));
      writeFileSync(path, speakTones(lines, { pitch: 110, level: 0.3 }));
      return { audio: { path, contentType: 'audio/wav' }, durationSeconds: 3 };
    },
  }));
  const lines = TEXTS.map((text, at) => ({
    ...{ index: at + 1, start_ms: at * 1000, end_ms: at * 1000 + 800, text },
  }));
  writeFileSync(vloc.path('talk.es.srt'), formatSrt(lines));
  const subtitles = vloc.read('talk.es.srt');
  const say = (text: string) => writeFileSync(vloc.path('terms.csv'), `term,say\ndos*,${text}\n`);
  say('dosss');
  const first = await vloc.run(LOCALIZE);
  expect(first.code, first.stderr).toBe(0);
  const [one = '', two = '', three = ''] = TEXTS;
  expect(spoken).toEqual([[one, two.replace('dos', 'dosss'), three]]);
  expect(vloc.read('talk.es.srt')).toBe(subtitles);
  say('tos');
  const planned = await vloc.run([...LOCALIZE, '--dry-run', '-o', 'json']);
  const { stages } = JSON.parse(planned.stdout);
  expect(stages.find(({ kind }: { kind: string }) => kind === 'dubbing')).toMatchObject({
    ...{ jobs: 1, quantity: 1 },
    items: [{ redubbed: { cues: 1, of: 3 } }],
  });
});

it('--only is refused without stages, and before the dub', async () => {
  const vloc = await startStaging();
  for (const words of [
    ['localize', 'talk.mp4', '--to', 'es', '--only', '3'],
    ['localize', 'talk.mp4', '--to', 'es', '--stop-after', 'translate', '--only', '3'],
  ]) {
    const { code, stderr } = await vloc.run(words);
    expect(code, stderr).toBe(2);
    expect(stderr).toContain('--only');
  }
});
