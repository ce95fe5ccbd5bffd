/** The built-in separator: a worker process with RNNoise and spectral masks. Its steps are in `worker.ts`, `separate`. */
import { join } from 'node:path';
import { convertWav, SPEECH_FORMAT } from '../../media/audio/decode-audio.ts';
import type { Programs } from '../../media/programs/programs.ts';
import { shareProgress } from '../../media/work.ts';
import type { BackendWork, SeparationTask, Separator, Stems } from '../backend.ts';
import { BUILT_IN } from '../config.ts';
import { runWorker, WITH_VOICE, WORKER_FILES } from './worker-process.ts';

export function createBuiltinSeparator(programs: Programs): Separator {
  return {
    name: BUILT_IN.separate[0],
    concurrency: Number.POSITIVE_INFINITY,
    separate: (task, work) => separateInWorker(programs, task, work),
    close: async () => {},
  };
}

/** Measured share of the worker; the rest is for resampling the voice. */
const WORKER_SHARE = 0.98;

async function separateInWorker(
  programs: Programs,
  { withVoice }: SeparationTask,
  work: BackendWork,
): Promise<Stems> {
  const speech = await runWorker(
    programs,
    withVoice ? [WITH_VOICE] : [],
    shareProgress(work, 0, WORKER_SHARE),
  );
  const path = (name: keyof typeof WORKER_FILES) => join(work.folder, WORKER_FILES[name]);
  const rate = { sampleRate: SPEECH_FORMAT.sampleRate };
  const voice = withVoice ? await convertWav(programs, path('voice'), path('speech'), rate, work) : null;
  return { vocals: path('vocals'), background: path('background'), speech: { ...speech, voice } };
}
