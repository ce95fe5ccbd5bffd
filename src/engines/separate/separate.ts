/** Separates a video into stems and finds the times of speech. */
import { join } from 'node:path';
import { audibleSeconds } from '../../media/audio/audible.ts';
import { convertWav, decodeAudio, SPEECH_FORMAT, STEM_FORMAT } from '../../media/audio/decode-audio.ts';
import { openWav } from '../../media/audio/wav.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { EngineUse, Work } from '../../media/work.ts';
import { shareProgress } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import type { DetectedSpeech, Stems } from '../backend.ts';
import { chooseBackend, type StepEngines } from '../choose.ts';
import { measureResidue, NOTICED_RESIDUE } from './residue.ts';
import { DETECT_ONLY, runWorker, WORKER_FILES } from './worker-process.ts';

export interface Separation extends DetectedSpeech {
  /** 48 kHz stereo WAV files, as long as the sound of the video. Those of the built-in separator add up to it, sample for sample. */
  readonly vocals: string;
  readonly background: string;
  /** Level of the voice in the background, in decibels compared with the voice; see `measureResidue`. */
  readonly residue: number | null;
  readonly use: EngineUse;
}

/** Measured share of the time for decoding. */
const DECODING_SHARE = 0.04;

/**
 * Separates the sound of a video.
 * @param withVoice whether the result will be used for recognition
 * @throws JobFailure, ProgramMissing, ChildFailure
 */
export async function separateSound(
  engines: StepEngines,
  video: string,
  withVoice: boolean,
  work: Work,
): Promise<Separation> {
  const { programs } = engines;
  const { stereo: mix, mono } = await decodeAudio(programs, video, work);
  const separating = shareProgress(work, DECODING_SHARE, 1);
  const { backend, use } = await chooseBackend(
    'separate',
    engines.separate,
    async () => true,
    async () => new JobFailure('ENGINE_ERROR', 'no engine separates voice and background'),
  );
  const stems = await backend.separate({ mix, mono, withVoice }, separating);
  const separation =
    stems.speech === null
      ? await detectInVocals(programs, mix, stems, separating)
      : { vocals: stems.vocals, background: stems.background, ...stems.speech };
  work.report(1);
  const isSilent = separation.segments.length === 0 && (await audibleSeconds(separation.vocals)) === 0;
  const residue = await residueOf(separation);
  return { ...separation, residue, use: isSilent ? { ...use, silent: true } : use };
}

async function residueOf({
  segments,
  ...paths
}: Pick<Separation, 'segments' | 'vocals' | 'background'>): Promise<number | null> {
  const vocals = await openWav(paths.vocals);
  const background = await openWav(paths.background);
  try {
    return await measureResidue(vocals, background, segments);
  } finally {
    await vocals.close();
    await background.close();
  }
}

/** The use of a separation whose background is delivered: with the voice in it, if that is noticed. */
export function useOfBackground({ use, residue }: Separation): EngineUse {
  return residue !== null && residue > NOTICED_RESIDUE ? { ...use, residue: Math.round(residue) } : use;
}

/** Converts stems to the format and length of the mix, and detects the speech in the vocals. */
async function detectInVocals(
  programs: Programs,
  mix: string,
  stems: Stems,
  work: Work,
): Promise<Omit<Separation, 'use' | 'residue'>> {
  const { frames, ...reader } = await openWav(mix);
  await reader.close();
  const path = (name: keyof typeof WORKER_FILES) => join(work.folder, WORKER_FILES[name]);
  const vocals = await convertWav(programs, stems.vocals, path('vocals'), { ...STEM_FORMAT, frames }, work);
  const background = await convertWav(
    programs,
    stems.background,
    path('background'),
    { ...STEM_FORMAT, frames },
    work,
  );
  const voice = await convertWav(programs, vocals, path('speech'), SPEECH_FORMAT, work);
  const speech = await runWorker(programs, [DETECT_ONLY], { ...work, report: () => {} });
  return { vocals, background, voice, ...speech };
}
