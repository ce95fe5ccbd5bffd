/** Engines that do real but small work: they write real files and take no time. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineProvenance, Engines } from '../../../src/engines/engine.ts';
import type { MediaFile, Work } from '../../../src/media/work.ts';
import { JobFailure } from '../../../src/protocol/job-failure.ts';
import { silentWav } from '../../support/wav.ts';

export interface SmallEngines extends Engines {
  /** Signals of all the work that was begun, in order. */
  readonly begun: AbortSignal[];
  /** From now on work waits until it is stopped or let go. */
  hold(): void;
  letGo(): void;
  /** The next attempts throw these, one each. */
  failNext(...errors: Error[]): void;
  /** From now on no video that is encoded can be exported, for this reason. */
  refuseExport(failure: JobFailure): void;
  /** From now on products say that they were made in this way. */
  reportProvenance(provenance: EngineProvenance): void;
  /** How often they were closed. */
  readonly closed: { count: number };
}

/** A file that these engines take for a video of that many seconds, with the bytes by which others know an MP4. */
export function videoOf(seconds: number): Buffer {
  return Buffer.from(`{  "ftyp":"isom","seconds":${seconds}}`);
}

/** What is found in a video of that many seconds. */
export const mediaOf = (seconds: number) => ({
  duration_seconds: seconds,
  container: 'mp4',
  video: { codec: 'h264', width: 320, height: 180, frame_rate: 25 },
  audio: { codec: 'aac', sample_rate: 48_000, channels: 2 },
});

const LANGUAGES = ['en', 'es', 'fr'];

export function createSmallEngines(): SmallEngines {
  const begun: AbortSignal[] = [];
  const errors: Error[] = [];
  const closed = { count: 0 };
  let provenance: EngineProvenance = {};
  let refusal: JobFailure | null = null;
  let gate: { promise: Promise<void>; open: () => void } | null = null;

  async function begin(work: Work): Promise<void> {
    begun.push(work.signal);
    work.report(0.25);
    const error = errors.shift();
    if (error !== undefined) throw error;
    if (gate !== null) await Promise.race([gate.promise, untilAborted(work.signal)]);
  }

  return {
    begun,
    hold() {
      let open = () => {};
      const promise = new Promise<void>((resolve) => {
        open = resolve;
      });
      gate = { promise, open };
    },
    letGo() {
      gate?.open();
      gate = null;
    },
    failNext: (...next) => errors.push(...next),
    reportProvenance(told) {
      provenance = told;
    },
    refuseExport(failure) {
      refusal = failure;
    },
    async checkExport({ video }) {
      const isKnown = video !== null || refusal?.code === 'LANGUAGE_NOT_SUPPORTED';
      if (refusal !== null && isKnown) throw refusal;
    },
    closed,
    async close() {
      closed.count += 1;
    },
    async capabilities() {
      return {
        missing: [],
        recognize: ['en'],
        translate: LANGUAGES.flatMap((from) =>
          LANGUAGES.filter((to) => to !== from).map((to) => ({ from, to })),
        ),
        speak: LANGUAGES.map((language) => ({ language, voices: [language] })),
      };
    },
    async inspect(file) {
      try {
        return mediaOf(JSON.parse(await readFile(file, 'utf8')).seconds);
      } catch {
        throw new JobFailure('MEDIA_CORRUPT', 'the file does not decode');
      }
    },
    run: {
      async audio_separation(_task, work) {
        await begin(work);
        return {
          ...provenance,
          vocalAudio: await writeWav(join(work.folder, 'voice.wav')),
          backgroundAudio: await writeWav(join(work.folder, 'rest.wav')),
        };
      },
      async subtitle_recognition(_task, work) {
        await begin(work);
        const lines = [{ index: 1, start_ms: 0, end_ms: 1000, text: 'hello' }];
        return { ...provenance, subtitle: { language: 'en', lines } };
      },
      async subtitle_translation(task, work) {
        await begin(work);
        const lines = task.lines.map((line) => ({ ...line, text: line.text.toUpperCase() }));
        return { ...provenance, subtitle: { language: task.targetLanguage, lines } };
      },
      async dubbing(_task, work) {
        await begin(work);
        return { ...provenance, audio: await writeWav(join(work.folder, 'dub.wav')), durationSeconds: 1 };
      },
      async auto_localization(task, work) {
        await begin(work);
        const path = join(work.folder, 'result.mp4');
        await copyFile(task.video, path);
        return { ...provenance, video: { path, contentType: 'video/mp4' }, durationSeconds: 1 };
      },
    },
  };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

async function writeWav(path: string): Promise<MediaFile> {
  await writeFile(path, silentWav());
  return { path, contentType: 'audio/wav' };
}
