/** Small made-up results, in the formats that the specification promises. */

const SECOND_OF_SILENCE = Buffer.alloc(16_000);

function wav(): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + SECOND_OF_SILENCE.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(16_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(SECOND_OF_SILENCE.length, 40);
  return Buffer.concat([head, SECOND_OF_SILENCE]);
}

/** By the last part of the path of a download. */
export const FILES: Readonly<Record<string, Buffer>> = {
  vocal_audio: wav(),
  background_audio: wav(),
  audio: wav(),
  subtitle: Buffer.from('1\n00:00:00,000 --> 00:00:01,000\nhola\n'),
  video: Buffer.concat([Buffer.from('\0\0\0\x18ftypisom'), Buffer.alloc(50_000, 'v')]),
};

/** The files of each kind of job, by the path of its collection. */
export const ASSETS: Readonly<Record<string, { object: string; names: readonly string[] }>> = {
  'audio-separations': { object: 'audio_separation', names: ['vocal_audio', 'background_audio'] },
  'subtitle-recognitions': { object: 'subtitle_recognition', names: ['subtitle'] },
  'subtitle-translations': { object: 'subtitle_translation', names: ['subtitle'] },
  dubbings: { object: 'dubbing', names: ['audio'] },
  'auto-localizations': { object: 'auto_localization', names: ['video'] },
};
