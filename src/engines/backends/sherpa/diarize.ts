/** Tells speakers apart with pyannote's segmentation and a model of voices, over sherpa-onnx. */
import type { Diarizer, Turn } from '../../backend.ts';
import type { TypedEntry } from '../../config.ts';
import type { BackendParts } from '../parts.ts';
import { createWorkers } from '../workers.ts';
import { openModel, workerPath } from './model.ts';
import { DIARIZERS } from './model-types.ts';
import type { DiarizationConfig, SherpaRequest } from './requests.ts';

/** An hour of sound takes some minutes on one core. */
const TIMEOUT = 3_600;
/** The default of sherpa-onnx. */
const THRESHOLD = 0.5;
/** Seconds. Shorter turns are mostly noise, and shorter pauses belong to a turn. Source: the examples of sherpa-onnx. */
const SHORTEST = { minDurationOn: 0.2, minDurationOff: 0.5 } as const;

/** @throws JobFailure if the folder has no usable models */
export async function createSherpaDiarizer(
  entry: TypedEntry<'diarize', 'sherpa'>,
  parts: BackendParts,
): Promise<Diarizer> {
  const { name, paths, threads, bytes } = await openModel(entry, DIARIZERS, parts);
  const workers = createWorkers<SherpaRequest, readonly Turn[]>(
    { name, program: workerPath(), timeout: entry.timeout ?? TIMEOUT, bytes },
    parts,
  );
  const common = { numThreads: threads, provider: 'cpu', debug: 0 };
  const config: DiarizationConfig = {
    segmentation: { pyannote: { model: paths.segmentation ?? '' }, ...common },
    embedding: { model: paths.embedding ?? '', ...common },
    clustering: { numClusters: -1, threshold: entry.threshold ?? THRESHOLD },
    ...SHORTEST,
  };
  return {
    name,
    concurrency: entry.concurrency ?? 1,
    close: workers.close,
    peakBytes: workers.peakBytes,
    async diarize(voice, { signal }) {
      let turns: readonly Turn[] = [];
      await workers.call({ type: 'diarize', config, voice }, signal, (found) => {
        turns = found;
      });
      return turns;
    },
  };
}
