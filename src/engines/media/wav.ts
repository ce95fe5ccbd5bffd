/** The RIFF/WAVE container with 16-bit PCM, the one form of sound that steps hand to each other. */

export interface WavFormat {
  /** Samples a second, of each channel. */
  readonly sampleRate: number;
  readonly channels: number;
}

export const WAV_HEADER_BYTES = 44;
export const BYTES_PER_SAMPLE = 2;
/** Sizes in the header are of 32 bits. */
export const WAV_MAX_DATA_BYTES = 2 ** 32 - 1 - WAV_HEADER_BYTES;

/** The 44 bytes in front of `dataBytes` bytes of samples. */
export function wavHeader(format: WavFormat, dataBytes: number): Buffer {
  const frameBytes = format.channels * BYTES_PER_SAMPLE;
  const header = Buffer.alloc(WAV_HEADER_BYTES);
  header.write('RIFF', 0, 'latin1');
  header.writeUInt32LE(WAV_HEADER_BYTES - 8 + dataBytes, 4); // the size counts from behind itself
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

export interface WavLayout extends WavFormat {
  /** Where the samples begin, in bytes. */
  readonly dataStart: number;
  /** Bytes of samples; never more than the file holds, whatever the header says. */
  readonly dataBytes: number;
}

/**
 * Finds the samples of a 16-bit PCM file by walking its chunks.
 * @param head the first bytes of the file, up to the samples at least
 * @param fileBytes the size of the whole file
 * @throws Error when it is no such file
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
      return { ...format, dataStart: body, dataBytes: Math.min(size, fileBytes - body) };
    }
    at = body + size + (size % 2); // chunks begin at even places
  }
  throw new Error('a WAV file without samples');
}

function readFormat(head: Buffer, at: number): WavFormat {
  const bits = head.readUInt16LE(at + 14);
  if (bits !== BYTES_PER_SAMPLE * 8) throw new Error(`a WAV file with ${bits} bits a sample in place of 16`);
  return { channels: head.readUInt16LE(at + 2), sampleRate: head.readUInt32LE(at + 4) };
}
