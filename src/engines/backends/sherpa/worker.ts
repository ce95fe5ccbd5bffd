/**
 * Entry point of a sherpa worker. It runs in a separate process, because native code ends the whole process for a broken
 * model, and frees the memory of a model only when the process ends.
 */
import sherpa, {
  type OfflineRecognizer,
  type OfflineSpeakerDiarization,
  type OfflineTts,
  type RecognitionResult,
} from 'sherpa-onnx-node';
import { createWav, openWav } from '../../../media/audio/wav.ts';
import { sendLoaded, sendPart, serveRequests } from '../serve-requests.ts';
import type { TimedText } from '../transcript.ts';
import type { Recording, SherpaRequest, Utterance } from './requests.ts';

type Model = OfflineRecognizer | OfflineTts | OfflineSpeakerDiarization;

let loaded: { key: string; model: Model } | null = null;

await serveRequests(serve);

function serve(request: SherpaRequest): Promise<void> {
  switch (request.type) {
    case 'recognize':
      return recognize(request);
    case 'speak':
      return speak(request);
    case 'diarize':
      return diarize(request);
  }
}

/** Returns the model of a configuration. Keeps the last one, because most requests use the same. */
function load<M extends Model>(config: object, create: () => M): M {
  const key = JSON.stringify(config);
  if (loaded?.key !== key) {
    loaded = null;
    loaded = { key, model: create() };
    sendLoaded();
  }
  return loaded.model as M; // a process serves requests of one type
}

async function recognize(request: Extract<SherpaRequest, { type: 'recognize' }>): Promise<void> {
  const recognizer = load(request.config, () => new sherpa.OfflineRecognizer(request.config));
  const voice = await openWav(request.voice);
  const { sampleRate } = voice;
  try {
    for (const [range, { start, end }] of request.ranges.entries()) {
      const from = Math.round(start * sampleRate);
      const integers = await voice.read(from, Math.max(1, Math.round(end * sampleRate) - from));
      const stream = recognizer.createStream(request.hotwords);
      for (const [key, value] of Object.entries(request.options ?? {})) stream.setOption(key, value);
      stream.acceptWaveform({ samples: Float32Array.from(integers, (value) => value / 32_768), sampleRate });
      recognizer.decode(stream);
      const result = recognizer.getResult(stream);
      const { text, tokens = [], timestamps = [], lang: language = '' } = result;
      const phrases = timePhrases(result);
      sendPart({ range, text, tokens, timestamps, phrases, language } satisfies Utterance);
    }
  } finally {
    await voice.close();
  }
}

async function diarize({ config, voice }: Extract<SherpaRequest, { type: 'diarize' }>): Promise<void> {
  const diarization = load(config, () => new sherpa.OfflineSpeakerDiarization(config));
  const turns = diarization.process((await readSound(voice)).samples);
  sendPart(turns.toSorted((a, b) => a.start - b.start));
}

/** Reads a mono WAV. */
async function readSound(path: string): Promise<{ samples: Float32Array; sampleRate: number }> {
  const sound = await openWav(path);
  try {
    const integers = await sound.read(0, sound.frames);
    return {
      samples: Float32Array.from(integers, (value) => value / 32_768),
      sampleRate: sound.sampleRate,
    };
  } finally {
    await sound.close();
  }
}

/** Whisper times its phrases; other types return none. */
function timePhrases(result: RecognitionResult): TimedText[] {
  const {
    segment_texts: texts = [],
    segment_timestamps: starts = [],
    segment_durations: lengths = [],
  } = result;
  return texts.map((text, at) => {
    const start = starts[at] ?? 0;
    return { text, start, end: start + (lengths[at] ?? 0) };
  });
}

async function readRecording({ path, words }: Recording) {
  const { samples, sampleRate } = await readSound(path);
  return { referenceAudio: samples, referenceSampleRate: sampleRate, referenceText: words };
}

async function speak({
  config,
  text,
  speaker,
  speed,
  settings,
  recording,
  output,
}: Extract<SherpaRequest, { type: 'speak' }>): Promise<void> {
  const tts = load(config, () => new sherpa.OfflineTts(config));
  if (speaker >= tts.numSpeakers) {
    throw new Error(
      `it has ${tts.numSpeakers} voices, from 0 to ${tts.numSpeakers - 1}, and no voice ${speaker}`,
    );
  }
  const voice = { sid: speaker, speed };
  const reference = recording === undefined ? {} : await readRecording(recording);
  const how = settings === undefined ? voice : { generationConfig: { ...voice, ...settings, ...reference } };
  const sound = tts.generate({ text, ...how, enableExternalBuffer: false });
  const file = await createWav(output, { sampleRate: sound.sampleRate, channels: 1 });
  const limited = Int16Array.from(sound.samples, (value) =>
    Math.max(-32_768, Math.min(32_767, Math.round(value * 32_768))),
  );
  await file.write(limited);
  await file.close();
}
