/** WAV files read at any place and written in order, so that memory does not grow with their length. */
import { type FileHandle, open } from 'node:fs/promises';
import { BYTES_PER_SAMPLE, parseWavHeader, WAV_MAX_DATA_BYTES, type WavFormat, wavHeader } from './wav.ts';

/** The samples of every file written by our steps begin well before this. */
const HEAD_BYTES = 4096;

export interface WavReader extends WavFormat {
  /** Length in frames; a frame holds one sample of each channel. */
  readonly frames: number;
  /**
   * Interleaved samples of `count` frames from `position` on. Places outside the file, also negative ones, read as
   * silence. The array is used again by the next call.
   */
  read(position: number, count: number): Promise<Int16Array>;
  close(): Promise<void>;
}

/** Opens a 16-bit PCM file. */
export async function openWav(path: string): Promise<WavReader> {
  const handle = await open(path, 'r');
  try {
    const { size } = await handle.stat();
    const head = Buffer.alloc(Math.min(HEAD_BYTES, size));
    await handle.read(head, 0, head.length, 0);
    const layout = parseWavHeader(head, size);
    const { channels, sampleRate, dataStart } = layout;
    const frames = Math.floor(layout.dataBytes / (channels * BYTES_PER_SAMPLE));
    let samples = new Int16Array(0);
    const read = async (position: number, count: number): Promise<Int16Array> => {
      if (samples.length !== count * channels) samples = new Int16Array(count * channels);
      samples.fill(0);
      const from = Math.max(0, position);
      const to = Math.min(frames, position + count);
      if (to <= from) return samples;
      const into = Buffer.from(samples.buffer, (from - position) * channels * BYTES_PER_SAMPLE);
      const bytes = (to - from) * channels * BYTES_PER_SAMPLE;
      await handle.read(into, 0, bytes, dataStart + from * channels * BYTES_PER_SAMPLE);
      return samples;
    };
    return { channels, sampleRate, frames, read, close: () => handle.close() };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

export interface WavWriter extends WavFormat {
  /** Frames written so far. */
  readonly frames: number;
  /** Appends interleaved samples. */
  write(samples: Int16Array): Promise<void>;
  /** Completes the header and closes the file. */
  close(): Promise<void>;
}

/** Creates a 16-bit PCM file with the usual rights: it may become a result. @throws Error beyond the 4 GiB that the format can hold */
export async function createWav(path: string, format: WavFormat): Promise<WavWriter> {
  const handle = await open(path, 'w');
  await handle.write(wavHeader(format, 0));
  let dataBytes = 0;
  return {
    ...format,
    get frames() {
      return dataBytes / (format.channels * BYTES_PER_SAMPLE);
    },
    async write(samples) {
      if (dataBytes + samples.byteLength > WAV_MAX_DATA_BYTES)
        throw new Error('a WAV file cannot exceed 4 GiB');
      await writeWhole(handle, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength));
      dataBytes += samples.byteLength;
    },
    async close() {
      try {
        await handle.write(wavHeader(format, dataBytes), 0, undefined, 0);
      } finally {
        await handle.close();
      }
    },
  };
}

/** A write may take a part only, above all on a disk that is nearly full. */
async function writeWhole(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await handle.write(bytes, at);
    at += bytesWritten;
  }
}
