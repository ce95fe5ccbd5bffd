/** Recognition of held-out speech: words wrong, and the times of the cues. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createEngines } from '../../src/engines/index.ts';
import type { SubtitleLine } from '../../src/protocol/subtitle-line.ts';
import { createWork, temporaryFolder } from '../engines/workspace.ts';
import { wordErrorRate } from '../support/words.ts';
import { HAS_CLIPS, type Layout, layOut, mix, NEEDED, type Speech, speak, writeVideo } from './clips.ts';
import { report } from './report.ts';

const engines = createEngines();

async function recognize(
  speech: Speech,
  music: number | null,
  { layout = 'stereo', rate = 48_000 }: { layout?: Layout; rate?: number } = {},
): Promise<readonly SubtitleLine[]> {
  const folder = temporaryFolder();
  const video = writeVideo(join(folder, 'clip.mp4'), layOut(mix(speech, music), layout), { rate });
  const task = { video, sourceLanguage: 'en' };
  return (await engines.run.subtitle_recognition(task, createWork(folder))).subtitle.lines;
}

function wrongWords(speech: Speech, lines: readonly SubtitleLine[]): number {
  const said = speech.said.map(({ words }) => words).join(' ');
  return wordErrorRate(said, lines.map(({ text }) => text).join(' '));
}

/** Thresholds leave a few words for other versions of the programs and models. */
describe.skipIf(!HAS_CLIPS)(`recognition (${NEEDED})`, () => {
  test.each([
    { set: 'heldOut', music: null, most: 0.5 },
    { set: 'heldOut', music: 12, most: 0.9 },
    { set: 'librivox', music: null, most: 0.4 },
  ] as const)('of $set with music at $music dB has few wrong words', async ({ set, music, most }) => {
    const speech = speak(set);
    const wrong = wrongWords(speech, await recognize(speech, music));
    report(`words wrong: ${set}, music ${music === null ? 'none' : `${music} dB below`}`, 100 * wrong, '%');
    expect(wrong).toBeLessThan(most);
  });
});
