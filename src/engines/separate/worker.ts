/**
 * Entry point of the separation worker. It runs in a separate process, so that a crash of native code on a broken model
 * ends only the worker, its memory is freed when it ends, and the event loop of the service stays free. Arguments: the
 * work folder, then `--voice` if the voice track for recognition is requested, or `--detect` for detection only.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { SPEECH_FORMAT, STEM_FORMAT } from '../../media/audio/decode-audio.ts';
import { computeMean } from '../../media/audio/samples.ts';
import {
  detectSpeech,
  type Listening,
  loadDetector,
  measureEnergies,
  VAD_WINDOW,
} from '../../media/audio/speech-detector.ts';
import { openWav, reserveWav } from '../../media/audio/wav.ts';
import { maskingWeights, speechEnergy } from './background.ts';
import { type Denoised, divideToDenoise, joinDenoised } from './denoise.ts';
import { addHiddenSpeech } from './hidden-speech.ts';
import { divideFrames } from './stems.ts';
import {
  answerMainThread,
  type SplitPlan,
  startThreads,
  type Threads,
  VOICE_FORMAT,
  type VoiceSource,
} from './threads.ts';
import { DETECT_ONLY, WITH_VOICE, WORKER_FILES, type WorkerMessage } from './worker-process.ts';

/** Measured share of the worker's time until speech is detected and noise is removed, and the share of the detection of that. */
const NOISE_SHARE = 0.5;
const DETECTION_SHARE = 0.25;
/** A thread loads and compiles the code again, which takes as long as it splits about five seconds of sound. */
const THREAD_SECONDS = 15;
const WINDOW_SECONDS = VAD_WINDOW / SPEECH_FORMAT.sampleRate;

/**
 * The centre channel has the dialogue if its speech is at least this share (-12 dB) of the whole sound during the speech. Less
 * is a faint copy of speech that is between the left and the right channel.
 */
const CENTRE_SHARE = 0.06;

let reported = 0;
/** Completed fractions of the two steps that run at the same time. */
let detected = 0;
let denoised = 0;

if (isMainThread) await run(process.argv.slice(2));
else answerMainThread();

async function run([workFolder = '.', ...flags]: readonly string[]): Promise<void> {
  // stdin closes when the service ends for any reason. After that, the result is not needed.
  process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();
  try {
    if (flags.includes(DETECT_ONLY)) sendSpeech(await listen(join(workFolder, WORKER_FILES.speech)));
    else await separate(workFolder, flags.includes(WITH_VOICE));
  } catch (error) {
    // Only the message: the service shows the last line.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
  process.stdin.destroy();
}

function sendSpeech({ segments }: Pick<Listening, 'segments'>): void {
  sendMessage({ type: 'speech', segments });
}

async function listen(path: string): Promise<Listening> {
  const mono = await openWav(path);
  const listening = await detectSpeech(mono, await loadDetector(), (fraction) => {
    detected = fraction;
    reportSpeechAndNoise();
  });
  await mono.close();
  return listening;
}

/** Detects speech in the centre channel of surround sound, and in the whole sound if it is not there. */
async function detectInSurround(path: PathOf): Promise<Listening & Pick<VoiceSource, 'source'>> {
  const detected = await listen(path('centreMono'));
  const whole = await openWav(path('mono'));
  const energies = await measureEnergies(whole);
  await whole.close();
  const duringSpeech = (of: Float32Array) => speechEnergy(detected.segments, of, WINDOW_SECONDS);
  const isCentred = duringSpeech(detected.energies) > CENTRE_SHARE * duringSpeech(energies);
  return isCentred ? { ...detected, source: 'centre' } : { ...(await listen(path('mono'))), source: 'mix' };
}

/** Detects speech and removes noise: at the same time, unless it must be known first which sound has the speech. */
async function listenAndClean(
  path: PathOf,
  removeNoise: (source: VoiceSource['source']) => Promise<Denoised>,
): Promise<Pick<VoiceSource, 'source'> & { readonly heard: Listening; readonly cleaned: Denoised }> {
  if (existsSync(path('centreMono'))) {
    const { source, ...heard } = await detectInSurround(path);
    return { source, heard, cleaned: await removeNoise(source) };
  }
  const [heard, cleaned] = await Promise.all([listen(path('mono')), removeNoise('mix')]);
  return { source: 'mix', heard, cleaned };
}

type PathOf = (name: keyof typeof WORKER_FILES) => string;

/**
 * The steps of a separation, in order:
 * 1. `speech-detector.ts` finds speech in the mix, or in its centre channel, and measures the loudness. At the same time,
 *    unless there is a centre channel, several threads (`threads.ts`) remove noise from parts of the file (`parts.ts`):
 *    `denoise.ts` finds clicks (`clicks.ts`), writes the sound without clicks, noise and music, and measures where the voice is.
 *    `panning.ts` finds where that alone tells the voice from the music.
 * 2. `hidden-speech.ts` finds speech there that loud music hides in the mix. After that the times of speech are known.
 * 3. `background.ts` decides how far to mask each segment of speech.
 * 4. The threads write the stems, again in parts. In each part, `stems.ts` compares the spectra (`spectrum.ts`) of the mix and of
 *    the denoised sound, and `background.ts` keeps as much as is heard in the pauses.
 */
async function separate(folder: string, withVoice: boolean): Promise<void> {
  const path: PathOf = (name) => join(folder, WORKER_FILES[name]);
  const { frames, ...mix } = await openWav(path('mix'));
  await mix.close();
  const useful = Math.floor(frames / STEM_FORMAT.sampleRate / THREAD_SECONDS);
  const threads = startThreads(Math.max(1, Math.min(availableParallelism(), useful)));
  try {
    const removeNoise = (source: VoiceSource['source']) =>
      denoiseInParts(threads, { folder, source }, frames);
    const { source, heard, cleaned } = await listenAndClean(path, removeNoise);
    const denoised = await openWav(path('denoised'));
    const segments = await addHiddenSpeech(denoised, heard);
    await denoised.close();
    sendSpeech({ segments });
    const weights = maskingWeights(segments, heard.energies, WINDOW_SECONDS);
    const plan = { folder, source, withVoice, clicks: cleaned.clicks, segments, weights };
    const directions = segments.map(cleaned.direction);
    const apart = segments.map((segment) => cleaned.apart(segment, segments));
    await splitInParts(threads, { ...plan, directions, apart }, frames);
  } finally {
    await threads.close();
  }
  await rm(path('denoised'));
}

async function denoiseInParts(threads: Threads, source: VoiceSource, frames: number): Promise<Denoised> {
  await reserveWav(join(source.folder, WORKER_FILES.denoised), VOICE_FORMAT, frames);
  const parts = divideToDenoise(frames);
  const reportPart = sharedReport(parts.length, (fraction) => {
    denoised = fraction;
    reportSpeechAndNoise();
  });
  const tasks = parts.map((part, at) => threads.run('denoise', { ...source, part }, reportPart(at)));
  return joinDenoised(await Promise.all(tasks));
}

/** Writes the stems of a whole file. Their division does not change them. */
async function splitInParts(threads: Threads, plan: SplitPlan, frames: number): Promise<void> {
  const path: PathOf = (name) => join(plan.folder, WORKER_FILES[name]);
  await reserveWav(path('vocals'), STEM_FORMAT, frames);
  await reserveWav(path('background'), STEM_FORMAT, frames);
  if (plan.withVoice) await reserveWav(path('voice'), VOICE_FORMAT, frames);
  const parts = divideFrames(frames, threads.count);
  const reportPart = sharedReport(parts.length, (fraction) =>
    progress(NOISE_SHARE + fraction * (1 - NOISE_SHARE)),
  );
  await Promise.all(parts.map((part, at) => threads.run('split', { plan, part }, reportPart(at))));
}

/** Returns functions that report the progress of equal parts as that of the whole. */
function sharedReport(parts: number, report: (fraction: number) => void) {
  const fractions = new Float32Array(parts);
  return (part: number) => (fraction: number) => {
    fractions[part] = fraction;
    report(computeMean(fractions));
  };
}

function reportSpeechAndNoise(): void {
  progress(NOISE_SHARE * (DETECTION_SHARE * detected + (1 - DETECTION_SHARE) * denoised));
}

/** Hundredths are precise enough for a progress bar. */
function progress(fraction: number): void {
  if (fraction - reported < 0.01) return;
  reported = fraction;
  sendMessage({ type: 'progress', fraction });
}

function sendMessage(message: WorkerMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
