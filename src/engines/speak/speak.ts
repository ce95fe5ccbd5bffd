/** Dubbing: speaks cues into one sound track on their time line. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runTogether } from '../../base/together.ts';
import {
  changePauses,
  changeTempo,
  clipSeconds,
  cutClip,
  fadeOut,
  findPauses,
  parseClip,
  resampleClip,
  writeClip,
} from '../../media/audio/clip.ts';
import { STEM_FORMAT } from '../../media/audio/decode-audio.ts';
import { LIMITER } from '../../media/audio/limiter.ts';
import { measureLoudness } from '../../media/audio/loudness.ts';
import { createWav, type WavWriter } from '../../media/audio/wav.ts';
import { fileAddress, ownInput, QUIET } from '../../media/programs/arguments.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { Clip, CueFit, EngineRun, EngineUse, Work } from '../../media/work.ts';
import { JobFailure } from '../../protocol/job-failure.ts';
import { LIMITS } from '../../protocol/limits.ts';
import type { SubtitleLine } from '../../protocol/subtitle-line.ts';
import type { Speaker, SpeechRequest, VoiceMode } from '../backend.ts';
import { chooseBackend, type StepEngines } from '../choose.ts';
import { divideSlot, meetCues, type Placement, placeTexts, planSlots, type SpokenText } from './fit.ts';
import { noVoiceFor } from './voices.ts';

/**
 * The longest track: longer than any film, and 1.4 GB at 48 kHz. Without the limit, one wrong cue at hour 99 would fill
 * the disk.
 */
const MAX_TRACK_MS = 4 * 3600 * 1000;

/** Samples of silence that are written at a time. */
const SILENCE_BLOCK = 65_536;

interface Dub {
  /** 48 kHz mono WAV. */
  readonly path: string;
  readonly durationSeconds: number;
  /** One entry per spoken text, in order of time; two for one that was cut off within a sentence of several cues. */
  readonly fits: readonly CueFit[];
  readonly use: EngineUse;
}

interface DubTask {
  readonly lines: readonly SubtitleLine[];
  readonly targetLanguage: string;
  readonly voiceMode: VoiceMode;
  /** Length of the video, where all speech ends; missing if it is not known. */
  readonly videoSeconds?: number;
}

/**
 * Speaks all cues into one track, those of a sentence as one text. Each text starts with its first cue, or up to 0.3 s earlier if it
 * does not fit otherwise, and none overlaps the next.
 * @throws JobFailure LANGUAGE_NOT_SUPPORTED without a voice, DURATION_EXCEEDED above four hours, SUBTITLE_INVALID for
 * more than 5,000 characters at one time
 */
export async function speakDub(engines: StepEngines, task: DubTask, work: Work): Promise<Dub> {
  const { targetLanguage: language, voiceMode } = task;
  const { backend: speaker, use } = await chooseBackend(
    'speak',
    engines.speak,
    (candidate) => candidate.supports(language, work),
    async () => noVoiceFailure(language),
  );
  const endMs = Math.max(0, ...task.lines.map((line) => line.end_ms));
  if (endMs > MAX_TRACK_MS) {
    throw new JobFailure(
      'DURATION_EXCEEDED',
      'the last subtitle ends after more than 4 hours; cut the subtitles into parts',
    );
  }
  const { videoSeconds: seconds } = task;
  const slots = planSlots(task.lines, seconds === undefined ? undefined : Math.floor(1000 * seconds));
  slots.forEach(requireSpeakable);
  const spoken = join(work.folder, 'spoken.wav');
  const { programs } = engines;
  const speaking = { programs, speaker, language, voiceMode, ...work };
  const { fits, durationSeconds } = await writeTrack(spoken, { slots, endMs }, speaking, work);
  const level = speaker.isLevel || fits.length === 0 ? [] : await levelDub(programs, spoken, work);
  const path = join(work.folder, 'dub.wav');
  const filters = ['-af', [...level, LIMITER].join(','), '-ar', String(STEM_FORMAT.sampleRate)];
  const output = ['-c:a', 'pcm_s16le', '-fflags', '+bitexact', '-f', 'wav', fileAddress(path)];
  await programs.run('ffmpeg', [...QUIET, ...ownInput(spoken, 'wav'), ...filters, ...output], work);
  return { path, durationSeconds, fits, use };
}

function noVoiceFailure(language: string): JobFailure {
  const message = `${noVoiceFor(language)}; see the available languages with: vloc engines list`;
  return new JobFailure('LANGUAGE_NOT_SUPPORTED', message);
}

/** A text above the limit of one line means a very long cue, or a thousand cues that begin together. */
function requireSpeakable({ indexes, text }: SpokenText): void {
  if (text.length <= LIMITS.lineCharacters) return;
  const which =
    indexes.length === 1 ? `cue ${indexes[0]}` : `the ${indexes.length} cues from cue ${indexes[0]} on`;
  const message = `${which} of the subtitles would have ${text.length} characters spoken at one time; the limit is ${LIMITS.lineCharacters}`;
  throw new JobFailure('SUBTITLE_INVALID', message);
}

/** The sample rate of a track in which nothing is spoken. */
const EMPTY_TRACK_RATE = 22_050;

/** Speaking takes most of the time, fitting the rest. */
const SPEAKING_SHARE = 0.8;

/**
 * Speaks all slots at the natural tempo, places them, and writes them in order. The track has the sample rate of the
 * first clip.
 */
async function writeTrack(
  path: string,
  { slots, endMs }: { slots: readonly SpokenText[]; endMs: number },
  speaking: Speaking,
  work: Work,
): Promise<{ fits: CueFit[]; durationSeconds: number }> {
  const spoken: Spoken[] = [];
  let done = 0;
  const speakOne = (slot: SpokenText, _: number, signal: AbortSignal) =>
    speakNaturally({ ...speaking, signal }, slot);
  for await (const texts of inOrder(slots, speaking, speakOne)) {
    spoken.push(...texts);
    done += 1;
    work.report((SPEAKING_SHARE * done) / slots.length);
  }
  const placements = placeTexts(
    spoken.map(({ slot }) => slot),
    spoken.map(({ seconds }) => seconds),
  );
  const fitOne = async ({ slot, path: file }: Spoken, at: number, signal: AbortSignal) => {
    const natural = parseClip(await readFile(file));
    await rm(file);
    const { startMs, tempo } = placements[at] ?? { startMs: slot.startMs, tempo: 1 };
    const line = { slot, natural, startMs, tempo, name: `clip-${at}` };
    return { startMs, ...(await speakLine({ ...speaking, signal }, line)) };
  };
  const fits: CueFit[] = [];
  let track: WavWriter | null = null;
  for await (const { startMs, clip, fits: own } of inOrder(spoken, speaking, fitOne)) {
    track ??= await createWav(path, { sampleRate: clip.sampleRate, channels: 1 });
    const { sampleRate } = track;
    const fitting =
      clip.sampleRate === sampleRate
        ? clip
        : await resampleClip({ ...speaking, name: 'resampled' }, clip, sampleRate);
    await writeSilence(track, Math.round((startMs / 1000) * sampleRate));
    await track.write(fitting.samples);
    fits.push(...own);
    work.report(SPEAKING_SHARE + ((1 - SPEAKING_SHARE) * fits.length) / spoken.length);
  }
  track ??= await createWav(path, { sampleRate: EMPTY_TRACK_RATE, channels: 1 });
  await writeSilence(track, Math.round((endMs / 1000) * track.sampleRate));
  const durationSeconds = track.frames / track.sampleRate;
  await track.close();
  return { fits, durationSeconds };
}

/** A text at its natural tempo, in a file. */
interface Spoken {
  readonly slot: SpokenText;
  readonly path: string;
  readonly seconds: number;
}

/** Speaks a text; in parts, if its later cues would have to wait for their words. */
async function speakNaturally(speaking: Speaking, slot: SpokenText): Promise<Spoken[]> {
  const clip = await speakText(speaking, slot.text, 1);
  const seconds = clipSeconds(clip);
  const divided = divideSlot(slot, seconds, findPauses(clip));
  if (divided !== null) {
    const [head, tail] = divided;
    return [...(await speakNaturally(speaking, head)), ...(await speakNaturally(speaking, tail))];
  }
  // No two texts begin at the same time.
  const path = join(speaking.folder, `line-${slot.startMs}.wav`);
  await writeClip(path, clip);
  return [{ slot, path, seconds }];
}

/** Does the same with each text, as many at one time as the speaker allows, so only their clips are in memory. */
async function* inOrder<S, T>(
  texts: readonly S[],
  { speaker, signal }: Speaking,
  task: (text: S, at: number, signal: AbortSignal) => Promise<T>,
): AsyncGenerator<T> {
  const parallel = Math.min(speaker.concurrency, MOST_CLIPS);
  for (let first = 0; first < texts.length; first += parallel) {
    const some = texts.slice(first, first + parallel);
    const tasks = some.map((text, at) => (own: AbortSignal) => task(text, first + at, own));
    yield* await runTogether(signal, tasks);
  }
}

/** Clips that are in memory at one time, at most: a server may allow more calls. */
const MOST_CLIPS = 16;

/** Fills the track with silence up to a frame. Does nothing if the track is already that long. */
async function writeSilence(track: WavWriter, until: number): Promise<void> {
  const silence = new Int16Array(SILENCE_BLOCK);
  while (track.frames < until)
    await track.write(silence.subarray(0, Math.min(SILENCE_BLOCK, until - track.frames)));
}

/** The loudness of a dub on its own, in LUFS: clear on all devices, and of usual speech without clipping. */
const DUB_LUFS = -18;

/** Returns filters that give a dub the usual loudness. The export brings it to that of the source. */
export async function levelDub(programs: Programs, dub: string, run: EngineRun): Promise<string[]> {
  const own = await measureLoudness(programs, dub, run);
  return own === null ? [] : [`volume=${(DUB_LUFS - own).toFixed(2)}dB`];
}

/** A speaker with the voice of a dub. */
interface Speaking extends EngineRun, Pick<SpeechRequest, 'language' | 'voiceMode'> {
  readonly programs: Programs;
  readonly speaker: Speaker;
}

/** Speaks a text. @param speed 1 is natural */
function speakText(
  { speaker, language, voiceMode, signal, folder }: Speaking,
  text: string,
  speed: number,
): Promise<Clip> {
  return speaker.speak({ text, language, voiceMode, speed }, { signal, folder });
}

/** Speakers do smaller changes inexactly, and may even speak more slowly: those are stretched. */
const LEAST_ASKED = 1.03;
/** A difference in length that nobody hears. */
const SAME_LENGTH = 0.005;

interface PlannedLine extends Placement {
  readonly slot: SpokenText;
  /** Its text at the natural tempo. */
  readonly natural: Clip;
  /** For temporary files; unique among concurrent calls. */
  readonly name: string;
}

/**
 * Speaks a text at the planned tempo. The speaker is asked for it; what it does not do is done by stretching. If that is too long
 * for the slot, only its first words are spoken. The clip is never longer than the slot.
 */
async function speakLine(
  speaking: Speaking,
  { slot, natural, startMs, tempo: planned, name }: PlannedLine,
): Promise<{ clip: Clip; fits: readonly CueFit[] }> {
  const allowedSeconds = (slot.limitMs - startMs) / 1000;
  const spoken = clipSeconds(natural);
  // A speaker returns nothing for a text that it cannot read.
  const tempo = spoken === 0 ? 1 : planned;
  const speed = tempo >= LEAST_ASKED ? Math.min(tempo, speaking.speaker.mostSpeed) : 1;
  const asked = speed > 1 ? await speakText(speaking, slot.text, speed) : natural;
  const stretch = (clipSeconds(asked) * tempo) / spoken;
  const isSame =
    tempo === 1 || (Math.abs(stretch - 1) <= SAME_LENGTH && clipSeconds(asked) <= allowedSeconds);
  const change = (clip: Clip) => (isSame ? clip : changeTempo({ ...speaking, name }, clip, stretch));
  const whole = await change(asked);
  const factors = {
    speed: speed > 1 ? spoken / clipSeconds(asked) : 1,
    tempo: isSame ? 1 : clipSeconds(asked) / clipSeconds(whole),
  };
  const isWhole = clipSeconds(whole) <= allowedSeconds;
  const { clip, lostEnd } = isWhole
    ? { clip: whole, lostEnd: Number.POSITIVE_INFINITY }
    : await speakFirstWords({
        text: slot.text,
        whole,
        allowedSeconds,
        say: async (text) => change(await speakText(speaking, text, speed)),
        language: speaking.language,
      });
  const { changes, shifts } = meetCues(slot, startMs, clipSeconds(whole), isWhole ? findPauses(whole) : []);
  const placed = isWhole ? changePauses(whole, changes) : clip;
  const seconds = clipSeconds(placed);
  const isChanged = factors.speed !== 1 || factors.tempo !== 1;
  const faster = isChanged ? (factors.tempo === 1 ? 'speed' : 'tempo') : 'none';
  const fitOf = (fit: CueFit['fit'], own: typeof shifts): CueFit[] => {
    const cutSeconds = fit === 'cut' ? clipSeconds(whole) - seconds : 0;
    const times = { ...factors, seconds, allowedSeconds, cutSeconds };
    const cues = own.map(({ cue }) => cue);
    return cues.length === 0 ? [] : [{ cues, shifts: own.map(({ shift }) => shift), fit, ...times }];
  };
  const said = shifts.filter(({ end }) => end < lostEnd);
  const lost = shifts.filter(({ end }) => end >= lostEnd);
  return { clip: placed, fits: [...fitOf(faster, said), ...fitOf('cut', lost)] };
}

/** The first try with as many letters as fit may be a little too long, because words differ. */
const MOST_TRIES = 5;

interface LongText {
  readonly text: string;
  /** All of it, too long. */
  readonly whole: Clip;
  readonly allowedSeconds: number;
  readonly say: (text: string) => Promise<Clip>;
  /** BCP 47 tag; decides where words end in scripts without spaces. */
  readonly language: string;
}

/**
 * Speaks as many whole words as fit, faded out. If not even one fits, it is cut off.
 * @returns the speech, and where in the text the first word ends that is not whole
 */
async function speakFirstWords({
  text,
  whole,
  allowedSeconds,
  say,
  language,
}: LongText): Promise<{ clip: Clip; lostEnd: number }> {
  const ends = wordEnds(text, language);
  let clip = whole;
  let end = text.length;
  for (let tries = 0; tries < MOST_TRIES && clipSeconds(clip) > allowedSeconds; tries += 1) {
    const share = (end * allowedSeconds) / clipSeconds(clip);
    const shorter = ends.findLast((word) => word <= share) ?? ends[0] ?? end;
    if (shorter >= end) break;
    end = shorter;
    clip = await say(text.slice(0, end));
  }
  const isWhole = clipSeconds(clip) <= allowedSeconds;
  return {
    clip: fadeOut(cutClip(clip, Math.floor(allowedSeconds * clip.sampleRate))),
    lostEnd: isWhole ? (ends.find((word) => word > end) ?? end) : end,
  };
}

/** Positions in a text at which its words end. */
function wordEnds(text: string, language: string): number[] {
  const words = [...new Intl.Segmenter(language, { granularity: 'word' }).segment(text)];
  return words.filter(({ isWordLike }) => isWordLike).map(({ index, segment }) => index + segment.length);
}
