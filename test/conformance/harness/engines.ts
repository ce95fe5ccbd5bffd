/** The media work of the harness: measures real videos, but produces only small results. */
import { createHash } from 'node:crypto';
import { readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createEngines, type Engines } from '../../../src/engines/index.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';

type Inspection = ReturnType<Engines['inspect']>;

/** What was measured, by content: all services of this process are sent the same few videos. */
const inspected = new Map<string, Inspection>();

/** Creates the engines of all services. */
export function createHarnessEngines(): Engines {
  const small = createSmallEngines();
  const real = createEngines();
  return {
    ...small,
    async inspect(file, signal) {
      const content = createHash('sha256')
        .update(await readFile(file))
        .digest('hex');
      const earlier = inspected.get(content);
      if (earlier !== undefined) return earlier;
      const inspection = real.inspect(file, signal);
      inspected.set(content, inspection);
      // What was stopped on the way says nothing about the video.
      inspection.catch(() => signal.aborted && inspected.delete(content));
      return inspection;
    },
    run: {
      ...small.run,
      async dubbing(task, work) {
        await small.run.dubbing(task, work);
        const seconds = Math.max(...task.lines.map(({ end_ms: endMs }) => endMs)) / 1000;
        const path = join(work.folder, 'track.wav');
        await writeSilence(path, seconds);
        return { audio: { path, contentType: 'audio/wav' }, durationSeconds: seconds };
      },
      auto_localization(task, work) {
        // Reports all stages of a real run, but does little work.
        work.report(0.1, 'separating');
        return small.run.auto_localization(task, {
          ...work,
          report: (fraction) => work.report(fraction, 'recognizing'),
        });
      },
    },
  };
}

const SAMPLE_RATE = 8000;
const SAMPLE_BYTES = 2;

/**
 * Writes a silent WAV file: one channel of 16 bits. Its samples are a hole of the file: hours of zeros in memory would hold up every
 * node, which all run in this process.
 */
async function writeSilence(path: string, seconds: number): Promise<void> {
  const dataBytes = Math.round(seconds * SAMPLE_RATE) * SAMPLE_BYTES;
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + dataBytes, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(SAMPLE_RATE, 24);
  head.writeUInt32LE(SAMPLE_RATE * SAMPLE_BYTES, 28);
  head.writeUInt16LE(SAMPLE_BYTES, 32);
  head.writeUInt16LE(8 * SAMPLE_BYTES, 34);
  head.write('data', 36);
  head.writeUInt32LE(dataBytes, 40);
  await writeFile(path, head);
  await truncate(path, head.length + dataBytes);
}
