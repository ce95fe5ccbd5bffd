/** Cues that a dub cannot say in time, by the rate of earlier dubs of that language and voice. */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type JobEntry, readKeptJobs } from '../../batch/records/job-record.ts';
import { RECORD_FOLDER } from '../../batch/records/record-folder.ts';
import type { Sound } from '../../batch/report/page-jobs.ts';
import { measureFit } from '../../batch/report/speech-fit.ts';
import type { SubtitleProblem } from '../../media/subtitles/check.ts';
import type { ScannedCue } from '../../media/subtitles/read-subtitle.ts';
import { stateFolder } from '../../profiles/environment.ts';
import { baseLanguage, languageName } from '../../protocol/language-tag.ts';
import { sameLanguage } from '../../protocol/languages.ts';
import { NOTICED_TEMPO } from '../../protocol/provenance.ts';
import { formatTime } from '../../protocol/srt.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Context } from '../context/context.ts';
import { cacheSounds } from './sound-cache.ts';

/** How fast a voice speaks. */
interface SpeechRate {
  readonly charactersPerSecond: number;
  /** Completes "by". */
  readonly origin: string;
}

/**
 * Characters per second of the built-in voices, for languages without an earlier dub. Measured 2026-11-26 with espeak-ng 1.51, for
 * English with flite 2.2, at the natural speed of vloc, on article 1 of the Universal Declaration of Human Rights, counted as `countCharacters` does.
 */
const DEFAULT_RATES: Readonly<Record<string, number>> = {
  ...{ de: 17.8, en: 16.4, es: 17.3, fr: 23.5, hi: 12.6, it: 17.3, ko: 6.1 },
  ...{ nl: 16, pl: 14.5, pt: 16.3, ru: 18.4, tr: 13.8, zh: 3.6 },
};

/** The newest dubs say most about the voice that is used now. */
const MOST_DUBS = 3;
/** A shorter sample says little, in milliseconds. */
const LEAST_MS = 3_000;
/** Speech that takes more of its time may have been hurried, and its neighbours with it: a voice does not change its tempo suddenly. */
const UNHURRIED_SHARE = 0.75;

/**
 * Returns the rate of a language: that of the newest dubs whose files are still there; null if there are none and no default was
 * asked for, or none is known.
 */
export async function findRate(
  language: string,
  voiceMode: string | undefined,
  context: Pick<Context, 'io' | 'signal'>,
): Promise<SpeechRate | null> {
  const jobs = await readKeptJobs(stateFolder(context.io.env, context.io.platform));
  const dubs = jobs.filter(
    ({ speech, downloaded }) =>
      speech !== undefined &&
      downloaded !== null &&
      sameLanguage(speech.language, language) &&
      speech.voice_mode === (voiceMode ?? 'auto'),
  );
  // Another service has other voices.
  const own = dubs.filter(({ profile }) => profile === dubs[0]?.profile).slice(0, MOST_DUBS);
  const name = languageName(language);
  const measured = own.length === 0 ? null : await measureDubs(own, context);
  if (measured !== null) {
    const origin = `${measured.toFixed(1)} characters/s of earlier dubs in ${name}`;
    return { charactersPerSecond: measured, origin };
  }
  const usual = DEFAULT_RATES[baseLanguage(language)];
  if (voiceMode === undefined || usual === undefined) return null;
  const origin = `${usual} characters/s, the default for ${name}, as no earlier dub could be measured`;
  return { charactersPerSecond: usual, origin };
}

/** Characters per second over all dubs; null if too little was heard. */
async function measureDubs(
  dubs: readonly JobEntry[],
  { io, signal }: Pick<Context, 'io' | 'signal'>,
): Promise<number | null> {
  const [{ createPrograms }, { outlineSound }] = await Promise.all([
    import('../../media/programs/programs.ts'),
    import('../../media/audio/peaks.ts'),
  ]);
  const programs = createPrograms(io.env.PATH ?? '');
  const folder = await mkdtemp(join(tmpdir(), 'vloc-speech-'));
  const outline = (path: string) => outlineSound(programs, path, { signal, folder });
  let characters = 0;
  let milliseconds = 0;
  try {
    for (const dub of dubs) {
      // Files that are gone or changed, and sound that cannot be read, are not measured.
      const found = await measureDub(dub, outline).catch(() => null);
      signal.throwIfAborted();
      characters += found?.characters ?? 0;
      milliseconds += found?.milliseconds ?? 0;
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return milliseconds < LEAST_MS ? null : (characters * 1000) / milliseconds;
}

async function measureDub(
  { input_files: [subtitle] = [], downloaded, created_at, speech, output_folder }: JobEntry,
  outline: (path: string) => Promise<Sound>,
): Promise<{ readonly characters: number; readonly milliseconds: number } | null> {
  const wav = downloaded?.find((path) => path.endsWith('.wav'));
  if (subtitle === undefined || wav === undefined || output_folder === null) return null;
  if ((await stat(subtitle)).mtimeMs > Date.parse(created_at)) return null;
  const [{ readSubtitleFile }, { countSpoken }, { planSlots }] = await Promise.all([
    import('../../media/subtitles/read-subtitle.ts'),
    import('../../media/subtitles/style.ts'),
    import('../../engines/speak/fit.ts'),
  ]);
  // Cues of a sentence were spoken as one text.
  const lines = planSlots(readSubtitleFile(await readFile(subtitle), subtitle)).map(
    ({ startMs, endMs, text }, at) => ({ index: at + 1, start_ms: startMs, end_ms: endMs, text }),
  );
  // Where `batch report --html` keeps them too.
  const cache = join(output_folder, RECORD_FOLDER, 'outlines');
  const { loudness } = await cacheSounds(cache, outline)(wav);
  const fits = measureFit(lines, loudness).map(({ speech: heard, slot_start_ms: from, slot_end_ms }, at) => {
    if (heard === null || heard === 'unclear') return null;
    const until = lines[at + 1]?.start_ms ?? slot_end_ms;
    const isHurried = heard.end_ms - from > (until - from) * UNHURRIED_SHARE;
    return { isHurried, milliseconds: heard.end_ms - heard.start_ms };
  });
  const sums = { characters: 0, milliseconds: 0 };
  for (const [at, fit] of fits.entries()) {
    const isNatural = [fits[at - 1], fit, fits[at + 1]].every((each) => each?.isHurried !== true);
    if (fit === null || !isNatural) continue;
    sums.characters += countSpoken(lines[at]?.text ?? '', speech?.language ?? null);
    sums.milliseconds += fit.milliseconds;
  }
  return sums;
}

/** Finds the texts that would be spoken so fast that it is noticed, or cut off. */
export async function checkSpeech(
  cues: readonly ScannedCue[],
  language: string,
  { charactersPerSecond: rate, origin }: SpeechRate,
): Promise<readonly SubtitleProblem[]> {
  const [{ availableSeconds, planSlots }, { countSpoken }] = await Promise.all([
    import('../../engines/speak/fit.ts'),
    import('../../media/subtitles/style.ts'),
  ]);
  const lines = cues
    .filter(({ start_ms, end_ms }) => end_ms > start_ms)
    .map(({ number, start_ms, end_ms, text }): SubtitleLine => ({ index: number, start_ms, end_ms, text }));
  const rows = new Map(cues.map(({ number, row }) => [number, row]));
  return planSlots(lines).flatMap((slot) => {
    const characters = countSpoken(slot.text, language);
    const [needs, has] = [characters / rate, availableSeconds(slot)];
    if (needs <= has * NOTICED_TEMPO) return [];
    const cue = slot.indexes[0] ?? 0;
    const less = Math.ceil(characters - has * rate);
    const message = `needs ${needs.toFixed(1)} s, has ${has.toFixed(1)} s: shorten by ${less} characters`;
    const place = { row: rows.get(cue) ?? null, cue, time: formatTime(slot.startMs) };
    return [{ code: 'SPEECH', severity: 'warning', ...place, message, advice: `by ${origin}` } as const];
  });
}
