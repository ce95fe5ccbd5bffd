/**
 * Entry point of the separation worker. It runs in a separate process, so that a crash of native code on a broken model
 * ends only the worker, its memory is freed when it ends, and the event loop of the service stays free. Arguments: the
 * work folder, then `--voice` if the voice track for recognition is requested, or `--detect` for detection only.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SPEECH_FORMAT, STEM_FORMAT } from '../media/decode-audio.ts';
import { createWav, openWav } from '../media/wav.ts';
import { maskingWeights, speechEnergy } from './background.ts';
import { detectSpeech, measureEnergies, VAD_WINDOW } from './speech-detector.ts';
import { splitStems } from './stems.ts';
import { DETECT_ONLY, WITH_VOICE, WORKER_FILES, type WorkerMessage } from './worker-messages.ts';

/** Measured share of the worker's time for detection. */
const DETECTION_SHARE = 0.13;
const WINDOW_SECONDS = VAD_WINDOW / SPEECH_FORMAT.sampleRate;

/**
 * The centre channel has the dialogue if its speech is at least this share (-12 dB) of the whole sound during the speech. Less
 * is a faint copy of speech that is between the left and the right channel.
 */
const CENTRE_SHARE = 0.06;

let told = 0;

// stdin closes when the service ends for any reason. After that, the result is not needed.
process.stdin.on('end', () => process.kill(process.pid, 'SIGKILL')).resume();

const [folder = '.', ...flags] = process.argv.slice(2);
try {
  if (flags.includes(DETECT_ONLY)) await detect(join(folder, WORKER_FILES.speech));
  else await separate(folder, flags.includes(WITH_VOICE));
} catch (error) {
  // Only the message: the service shows the last line.
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
process.stdin.destroy();

async function detect(speech: string): ReturnType<typeof detectSpeech> {
  const detected = await listen(speech);
  report(detected);
  return detected;
}

async function listen(path: string): ReturnType<typeof detectSpeech> {
  const mono = await openWav(path);
  const detected = await detectSpeech(mono, (part) => progress(part * DETECTION_SHARE));
  await mono.close();
  return detected;
}

function report({ segments, energies }: Awaited<ReturnType<typeof detectSpeech>>): void {
  const energy = speechEnergy(segments, energies, WINDOW_SECONDS);
  const speechDecibels = energy > 0 ? 10 * Math.log10(energy) : null;
  tell({ type: 'speech', segments, speechDecibels });
}

/** Detects speech in the centre channel of surround sound, and in the whole sound if it is not there. */
async function detectInMix(
  path: (name: keyof typeof WORKER_FILES) => string,
): Promise<Awaited<ReturnType<typeof detectSpeech>> & { readonly source: 'mix' | 'centre' }> {
  if (existsSync(path('centreMono'))) {
    const detected = await listen(path('centreMono'));
    const whole = await openWav(path('mono'));
    const energies = await measureEnergies(whole);
    await whole.close();
    const duringSpeech = (of: Float32Array) => speechEnergy(detected.segments, of, WINDOW_SECONDS);
    if (duringSpeech(detected.energies) > CENTRE_SHARE * duringSpeech(energies)) {
      report(detected);
      return { ...detected, source: 'centre' };
    }
  }
  return { ...(await detect(path('mono'))), source: 'mix' };
}

async function separate(workFolder: string, withVoice: boolean): Promise<void> {
  const path = (name: keyof typeof WORKER_FILES) => join(workFolder, WORKER_FILES[name]);
  const { segments, energies, source: name } = await detectInMix(path);
  const [mix, source] = [await openWav(path('mix')), await openWav(path(name))];
  const vocals = await createWav(path('vocals'), STEM_FORMAT);
  const background = await createWav(path('background'), STEM_FORMAT);
  const voice = withVoice ? await createWav(path('voice'), { ...STEM_FORMAT, channels: 1 }) : null;
  const weights = maskingWeights(segments, energies, WINDOW_SECONDS);
  await splitStems({ mix, source, segments, weights }, { vocals, background, voice }, (part) =>
    progress(DETECTION_SHARE + part * (1 - DETECTION_SHARE)),
  );
  await Promise.all([mix.close(), source.close(), vocals.close(), background.close(), voice?.close()]);
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
