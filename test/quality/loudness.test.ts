/** Loudness of localized videos: how far they are from their source, and whether they are clipped. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Tasks } from '../../src/engines/engine.ts';
import { separateSound } from '../../src/engines/separate/separate.ts';
import { speakDub } from '../../src/engines/speak/speak.ts';
import { exportVideo } from '../../src/media/export/export.ts';
import type { SubtitleLine } from '../../src/protocol/subtitle-line.ts';
import { createWork, programs, stepEngines } from '../engines/workspace.ts';
import { makeFolder } from '../support/make-folder.ts';
import { decodeChannels, HAS_CLIPS, type Layout, layOut, mix, NEEDED, speak, writeVideo } from './clips.ts';
import { FIGURE, report } from './report.ts';

/** Integrated loudness in LUFS, as ffmpeg sums it up. */
function loudness(path: string): number {
  const args = ['-hide_banner', '-nostats', '-i', path, '-map', '0:a:0', '-af', 'ebur128', '-f', 'null', '-'];
  const said = execFileSync('sh', ['-c', 'ffmpeg "$@" 2>&1', 'sh', ...args], { encoding: 'utf8' });
  return Number([...said.matchAll(/^\s*I:\s+(-?[\d.]+) LUFS/gm)].at(-1)?.[1]);
}

/** Largest sample of the result; above 1 it is clipped when it is played. */
function peak(path: string): number {
  let most = 0;
  for (const channel of decodeChannels(path, 2)) {
    for (const sample of channel) most = Math.max(most, Math.abs(sample));
  }
  return most;
}

interface Case {
  readonly originalAudio: Tasks['auto_localization']['originalAudio'];
  /** Decibels below the speech; null for none. */
  readonly music: number | null;
  /** Decibels added to the source. Without, its speech is 20 dB below full scale. */
  readonly gain?: number;
  readonly layout?: Layout;
}

/** What is spoken instead of the recordings, at their times. */
const SPANISH: Readonly<Record<string, string>> = {
  'tt-allbusy':
    'Todos los representantes de la casa están ayudando a otros vendedores; espere y su llamada será contestada en el orden en que se recibió.',
  'privacy-unident': 'La persona a la que intenta llamar no acepta llamadas sin identificar.',
};

/** The steps of a localization, without the recognition, which takes most of the time and changes no loudness. */
async function localize(video: string, lines: readonly SubtitleLine[], one: Case, folder: string) {
  const engines = await stepEngines();
  const work = createWork(folder);
  const { background } = await separateSound(engines, video, false, work);
  const subtitle = { language: 'es', lines };
  const dub = await speakDub(engines, { lines, targetLanguage: 'es', voiceMode: 'auto' }, work);
  const sound = { type: 'dubbed', dub: dub.path, background, originalAudio: one.originalAudio } as const;
  const task = { video, sound, subtitle, subtitleOutput: 'none', resolution: 'source' } as const;
  return (await exportVideo(programs, task, work)).path;
}

describe.skipIf(!HAS_CLIPS)(`the loudness of a localized video (${NEEDED})`, () => {
  const isLikeSource = async (names: readonly string[], one: Case) => {
    const speech = speak('heldOut', names);
    const lines = speech.said.map(({ name, start, end }, at) => ({
      ...{ index: at + 1, start_ms: Math.round(1000 * start), end_ms: Math.round(1000 * end) },
      text: SPANISH[name] ?? '',
    }));
    const { originalAudio, music, gain = 0, layout = 'stereo' } = one;
    const folder = makeFolder();
    const factor = 10 ** (gain / 20);
    const channels = layOut(mix(speech, music), layout).map((channel) =>
      channel.map((sample) => Math.max(-1, Math.min(1, sample * factor))),
    );
    const video = writeVideo(join(folder, 'clip.mp4'), channels);
    const result = await localize(video, lines, one, folder);
    const source = loudness(video);
    const difference = loudness(result) - source;
    const what = `${originalAudio}, music ${music === null ? 'none' : `${music} dB below`}, ${layout}, source ${source.toFixed(0)} LUFS`;
    report(`loudness of the result minus that of the source: ${what}`, difference, 'LU');
    expect(Math.abs(difference)).toBeLessThanOrEqual(1);
    expect(peak(result)).toBeLessThanOrEqual(1);
  };
  const title = 'is that of its source: %j';
  test.each<Case>([
    { originalAudio: 'mute', music: null, gain: 7 },
    { originalAudio: 'background', music: 12, layout: '5.1' },
  ])(title, (one) => isLikeSource(['privacy-unident'], one));
  test.each<Case>([
    { originalAudio: 'mute', music: null, gain: 7 },
    { originalAudio: 'background', music: 12, layout: '5.1' },
    { originalAudio: 'duck', music: 12 },
    { originalAudio: 'background', music: null, gain: -20 },
    { originalAudio: 'background', music: 0 },
    { originalAudio: 'background', music: 12 },
    { originalAudio: 'mute', music: 12 },
    { originalAudio: 'background', music: 6, gain: 7 },
    { originalAudio: 'duck', music: 6, gain: 7 },
    { originalAudio: 'background', music: 12, layout: 'mono' },
    { originalAudio: 'duck', music: 12, layout: '5.1' },
  ])(title, FIGURE, (one) => isLikeSource(Object.keys(SPANISH), one));
});
