/**
 * Entry point of the separation worker. It runs in a separate process, so that a crash of native code on a broken model
 * ends only the worker, its memory is freed when it ends, and the event loop of the service stays free. Arguments: the
 * work folder, then `--voice` if the voice track for recognition is requested, or `--detect` for detection only.
 */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isMainThread } from 'node:worker_threads';
import { SPEECH_FORMAT, STEM_FORMAT } from '../media/decode-audio.ts';
import { createWav, openWav, type WavReader } from '../media/wav.ts';
import { maskingWeights, speechEnergy } from './background.ts';
import { type Denoised, denoise } from './denoise.ts';
import { addHiddenSpeech } from './hidden-speech.ts';
import { splitInParts, splitPartOfThread } from './parts.ts';
import { detectSpeech, type Listening, measureEnergies, VAD_WINDOW } from './speech-detector.ts';
import { DETECT_ONLY, WITH_VOICE, WORKER_FILES, type WorkerMessage } from './worker-messages.ts';

/** Measured shares of the worker's time at the end of detection and of removing noise. */
const DETECTION_SHARE = 0.13;
const DENOISING_SHARE = 0.45;
const WINDOW_SECONDS = VAD_WINDOW / SPEECH_FORMAT.sampleRate;

/**
 * The centre channel has the dialogue if its speech is at least this share (-12 dB) of the whole sound during the speech. Less
 * is a faint copy of speech that is between the left and the right channel.
 */
const CENTRE_SHARE = 0.06;

let told = 0;

if (isMainThread) await run(process.argv.slice(2));
else await splitPartOfThread();

async function run([workFolder = '.', ...flags]: readonly string[]): Promise<void> {
  // stdin closes when the service ends for any reason. After that, the result is not needed.
  process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();
  try {
    if (flags.includes(DETECT_ONLY)) tellSpeech(await listen(join(workFolder, WORKER_FILES.speech)));
    else await separate(workFolder, flags.includes(WITH_VOICE));
  } catch (error) {
    // Only the message: the service shows the last line.
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
  process.stdin.destroy();
}

function tellSpeech({ segments }: Pick<Listening, 'segments'>): void {
  tell({ type: 'speech', segments });
}

async function listen(path: string): Promise<Listening> {
  const mono = await openWav(path);
  const detected = await detectSpeech(mono, (part) => progress(part * DETECTION_SHARE));
  await mono.close();
  return detected;
}

/** Detects speech in the centre channel of surround sound, and in the whole sound if it is not there. */
async function detectInMix(
  path: (name: keyof typeof WORKER_FILES) => string,
): Promise<Listening & { readonly source: 'mix' | 'centre' }> {
  if (existsSync(path('centreMono'))) {
    const detected = await listen(path('centreMono'));
    const whole = await openWav(path('mono'));
    const energies = await measureEnergies(whole);
    await whole.close();
    const duringSpeech = (of: Float32Array) => speechEnergy(detected.segments, of, WINDOW_SECONDS);
    if (duringSpeech(detected.energies) > CENTRE_SHARE * duringSpeech(energies)) {
      return { ...detected, source: 'centre' };
    }
  }
  return { ...(await listen(path('mono'))), source: 'mix' };
}

/**
 * The steps of a separation, in order:
 * 1. `speech-detector.ts` finds speech in the mix, or in its centre channel, and measures the loudness.
 * 2. `denoise.ts` finds clicks (`clicks.ts`), writes the sound without clicks, noise and music, and measures where the voice is.
 * 3. `hidden-speech.ts` finds speech there that loud music hides in the mix. After that the times of speech are known.
 * 4. `background.ts` decides how far to mask each segment of speech.
 * 5. `parts.ts` writes the stems, several parts of the file at the same time. In each part, `stems.ts` compares the spectra
 *    (`spectrum.ts`) of the mix and of the denoised sound, and `background.ts` keeps as much as is heard in the pauses.
 */
async function separate(workFolder: string, withVoice: boolean): Promise<void> {
  const path = (name: keyof typeof WORKER_FILES) => join(workFolder, WORKER_FILES[name]);
  const { source: name, ...heard } = await detectInMix(path);
  const [mix, source] = [await openWav(path('mix')), await openWav(path(name))];
  const { clicks, direction } = await removeNoise(source, path('denoised'));
  const denoised = await openWav(path('denoised'));
  const segments = await addHiddenSpeech(denoised, heard);
  tellSpeech({ segments });
  const { frames } = mix;
  await Promise.all([mix, source, denoised].map((file) => file.close()));
  const weights = maskingWeights(segments, heard.energies, WINDOW_SECONDS);
  const plan = { folder: workFolder, source: name, withVoice, clicks, segments, weights };
  await splitInParts({ ...plan, directions: segments.map(direction) }, frames, (part) =>
    progress(DENOISING_SHARE + part * (1 - DENOISING_SHARE)),
  );
  await rm(path('denoised'));
}

async function removeNoise(source: WavReader, path: string): Promise<Denoised> {
  const denoised = await createWav(path, { ...STEM_FORMAT, channels: 1 });
  const share = DENOISING_SHARE - DETECTION_SHARE;
  const result = await denoise(source, denoised, (part) => progress(DETECTION_SHARE + part * share));
  await denoised.close();
  return result;
}

/** Hundredths are precise enough for a progress bar. */
function progress(fraction: number): void {
  if (fraction - told < 0.01) return;
  told = fraction;
  tell({ type: 'progress', fraction });
}

function tell(message: WorkerMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}
