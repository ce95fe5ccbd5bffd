/** Listens to a video around the points where it might be cut. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Work } from '../../engines/engine.ts';
import { DECODER_LIMITS, fileAddress, QUIET } from '../../engines/media/arguments.ts';
import { SPEECH_FORMAT } from '../../engines/media/decode-audio.ts';
import { openWav } from '../../engines/media/wav.ts';
import type { Programs } from '../../engines/programs.ts';
import { findPauses } from '../../engines/separate/segments.ts';
import { detectSpeech, VAD_WINDOW } from '../../engines/separate/speech-detector.ts';
import { explaining } from '../failure.ts';
import { PCM } from '../media/codecs.ts';
import type { TrackFacts } from '../media/facts.ts';
import { foreignInput } from '../media/source.ts';
import type { Timeline } from '../media/timeline.ts';
import type { Level } from './plan-cuts.ts';
import type { CutWindow, Stretch } from './windows.ts';

export interface Heard {
  readonly silences: readonly Stretch[];
  readonly levels: readonly Level[];
}

/** Half of what a voice detection looks at together: a level belongs to the middle of its window. */
const LEVEL_SECONDS = VAD_WINDOW / SPEECH_FORMAT.sampleRate;

/** Finds the pauses of speech and the loudness in each window; times are those of the picture. */
export async function listen(
  programs: Programs,
  video: { readonly path: string; readonly track: TrackFacts; readonly timeline: Timeline },
  windows: readonly CutWindow[],
  work: Work,
): Promise<Heard> {
  const silences: Stretch[] = [];
  const levels: Level[] = [];
  for (const [position, window] of windows.entries()) {
    const heard = await listenTo(programs, video, window, work);
    silences.push(...heard.silences);
    levels.push(...heard.levels);
    work.report((position + 1) / windows.length);
  }
  return { silences, levels };
}

async function listenTo(
  programs: Programs,
  { path, track, timeline }: Parameters<typeof listen>[1],
  window: CutWindow,
  work: Work,
): Promise<Heard> {
  const wav = join(work.folder, 'window.wav');
  const length = window.end - window.start;
  const from = String(window.start + timeline.startSeconds);
  const args = [
    ...QUIET,
    ...foreignInput(path, ['-ss', from, '-t', String(length)]),
    ...['-map', `0:${track.index}`, '-ar', String(SPEECH_FORMAT.sampleRate), '-ac', '1'],
    ...[...PCM, fileAddress(wav)],
  ];
  await explaining('the sound around a cut cannot be decoded', () =>
    programs.run('ffmpeg', args, { ...work, limits: DECODER_LIMITS }),
  );
  const sound = await openWav(wav);
  try {
    const { segments, energies } = await detectSpeech(sound, () => work.signal.throwIfAborted());
    const silences = findPauses(segments, length).map(({ start, end }) => ({
      start: window.start + start,
      end: window.start + end,
    }));
    const levels = Array.from(energies, (energy, index) => ({
      at: window.start + (index + 0.5) * LEVEL_SECONDS,
      energy,
    }));
    return { silences, levels };
  } finally {
    await sound.close();
    await rm(wav);
  }
}
