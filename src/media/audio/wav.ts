/**
 * WAV files with 16-bit PCM, the only sound format between steps: read at any position, written in order, in constant
 * memory.
 */
import { type FileHandle, open } from 'node:fs/promises';

export interface WavFormat {
  /** Samples per second in each channel. */
  readonly sampleRate: number;
  readonly channels: number;
}

export const WAV_HEADER_BYTES = 44;
export const BYTES_PER_SAMPLE = 2;
/** Sizes in the header have 32 bits. */
const WAV_MAX_DATA_BYTES = 2 ** 32 - 1 - WAV_HEADER_BYTES;

/** Returns the 44 bytes before `dataBytes` bytes of samples. */
export function wavHeader(format: WavFormat, dataBytes: number): Buffer {
  const frameBytes = format.channels * BYTES_PER_SAMPLE;
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4); // the size does not count the first 8 bytes
  header.write('WAVEfmt ', 8, 'latin1');
  header.writeUInt32LE(16, 16); // size of the format chunk
  header.writeUInt16LE(1, 20); // integer PCM
  header.writeUInt16LE(format.channels, 22);
  header.writeUInt32LE(format.sampleRate, 24);
  header.writeUInt32LE(format.sampleRate * frameBytes, 28);
  header.writeUInt16LE(frameBytes, 32);
  header.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  header.write('data', 36, 'latin1');
  header.writeUInt32LE(dataBytes, 40);
  return header;
}

interface WavLayout extends WavFormat {
  /** Where the samples begin, in bytes. */
  readonly dataStart: number;
  /** Bytes of samples. Limited to the size of the file, even if the header declares more. */
  readonly dataBytes: number;
}

/**
 * Finds the samples of a 16-bit PCM file by reading its chunk headers. A program that writes to a pipe declares no length,
 * or the greatest one: its samples end with the file.
 * @param head the first bytes of the file, at least up to the samples
 * @param fileBytes the size of the whole file
 * @throws Error if it is not such a file
 */
export function parseWavHeader(head: Buffer, fileBytes: number): WavLayout {
  if (head.toString('latin1', 0, 4) !== 'RIFF' || head.toString('latin1', 8, 12) !== 'WAVE') {
    throw new Error('not a WAV file');
  }
  let format: WavFormat | null = null;
  for (let at = 12; at + 8 <= head.length; ) {
    const name = head.toString('latin1', at, at + 4);
    const size = head.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === 'fmt ' && body + 16 <= head.length) format = readFormat(head, body);
    if (name === 'data' && format !== null) {
      const rest = fileBytes - body;
      return { ...format, dataStart: body, dataBytes: size === 0 ? rest : Math.min(size, rest) };
    }
    at = body + size + (size % 2); // chunks begin at even offsets
  }
  throw new Error('a WAV file without samples');
}

const PCM = 1;
/** The real format follows at offset 24. */
const EXTENSIBLE = 0xfffe;

function readFormat(head: Buffer, at: number): WavFormat {
  const tag = head.readUInt16LE(at);
  const format = tag === EXTENSIBLE && at + 26 <= head.length ? head.readUInt16LE(at + 24) : tag;
  const bits = head.readUInt16LE(at + 14);
  if (format !== PCM || bits !== BYTES_PER_SAMPLE * 8) {
    throw new Error(`a WAV file of format ${format} with ${bits} bits a sample instead of 16-bit PCM`);
  }
  const channels = head.readUInt16LE(at + 2);
  const sampleRate = head.readUInt32LE(at + 4);
  if (channels === 0 || sampleRate === 0) {
    throw new Error(`a WAV file with ${channels} channels and ${sampleRate} samples a second`);
  }
  return { channels, sampleRate };
}

/** In files written by vloc, the samples begin before this offset. */
const HEAD_BYTES = 4096;

export interface WavReader extends WavFormat {
  /** Length in frames. A frame has one sample of each channel. */
  readonly frames: number;
  /**
   * Reads interleaved samples of `count` frames from `position`. Positions outside the file, including negative ones,
   * read as silence. The next call reuses the array.
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

/** Returns the length of a 16-bit PCM file in seconds. */
export async function wavSeconds(path: string): Promise<number> {
  const wav = await openWav(path);
  await wav.close();
  return wav.frames / wav.sampleRate;
}

export interface WavWriter extends WavFormat {
  /** Frames written so far. */
  readonly frames: number;
  /** Appends interleaved samples. */
  write(samples: Int16Array): Promise<void>;
  /** Completes the header and closes the file. */
  close(): Promise<void>;
}

/**
 * Creates a 16-bit PCM file with the usual permissions, because it may become a result. @throws Error beyond 4 GiB, the
 * limit of the format
 */
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
      await writeWhole(handle, Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength), null);
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

/** Creates a file of silence, whose parts can be written at the same time. @throws Error beyond 4 GiB */
export async function reserveWav(path: string, format: WavFormat, frames: number): Promise<void> {
  const dataBytes = frames * format.channels * BYTES_PER_SAMPLE;
  if (dataBytes > WAV_MAX_DATA_BYTES) throw new Error('a WAV file cannot exceed 4 GiB');
  const handle = await open(path, 'w');
  try {
    await handle.write(wavHeader(format, dataBytes));
    await handle.truncate(WAV_HEADER_BYTES + dataBytes);
  } finally {
    await handle.close();
  }
}

/** Opens a file of `reserveWav` to write samples from a frame on. */
export async function openWavPart(path: string, format: WavFormat, from: number): Promise<WavWriter> {
  const handle = await open(path, 'r+');
  const frameBytes = format.channels * BYTES_PER_SAMPLE;
  const first = WAV_HEADER_BYTES + from * frameBytes;
  let dataBytes = 0;
  return {
    ...format,
    get frames() {
      return dataBytes / frameBytes;
    },
    async write(samples) {
      const bytes = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
      await writeWhole(handle, bytes, first + dataBytes);
      dataBytes += samples.byteLength;
    },
    close: () => handle.close(),
  };
}

/** A write may be partial, especially if the disk is nearly full. */
async function writeWhole(handle: FileHandle, bytes: Buffer, position: number | null): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const place = position === null ? null : position + at;
    const { bytesWritten } = await handle.write(bytes, at, bytes.length - at, place);
    at += bytesWritten;
  }
}
