/** Speaks one text of a dub: at its natural tempo, faster, or only as many of its words as fit. */

import { changeTempo, clipSeconds, cutClip, fadeOut } from '../../media/audio/clip.ts';
import type { Programs } from '../../media/programs/programs.ts';
import type { Clip, CueFit, EngineRun } from '../../media/work.ts';
import type { Speaker, SpeechRequest } from '../backend.ts';
import { availableSeconds, type SpokenText } from './fit.ts';

/** A speaker with the voice of a dub. */
export interface Speaking extends EngineRun, Pick<SpeechRequest, 'language' | 'voiceMode'> {
  readonly programs: Programs;
  readonly speaker: Speaker;
}

/** Speaks a text. @param speed 1 is natural */
export function sayText(
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

interface PlannedLine {
  readonly slot: SpokenText;
  /** Its text at the natural tempo. */
  readonly natural: Clip;
  readonly tempo: number;
  /** For temporary files; unique among concurrent calls. */
  readonly name: string;
}

/**
 * Speaks a text at the planned tempo. The speaker is asked for it; what it does not do is done by stretching. If that is too long
 * for the slot, only its first words are spoken. The clip is never longer than the slot.
 */
export async function speakLine(
  speaking: Speaking,
  { slot, natural, tempo: planned, name }: PlannedLine,
): Promise<{ clip: Clip; fit: CueFit }> {
  const allowedSeconds = availableSeconds(slot);
  const spoken = clipSeconds(natural);
  // A speaker returns nothing for a text that it cannot read.
  const tempo = spoken === 0 ? 1 : planned;
  const speed = tempo >= LEAST_ASKED ? Math.min(tempo, speaking.speaker.mostSpeed) : 1;
  const asked = speed > 1 ? await sayText(speaking, slot.text, speed) : natural;
  const stretch = (clipSeconds(asked) * tempo) / spoken;
  const isSame =
    tempo === 1 || (Math.abs(stretch - 1) <= SAME_LENGTH && clipSeconds(asked) <= allowedSeconds);
  const change = (clip: Clip) => (isSame ? clip : changeTempo({ ...speaking, name }, clip, stretch));
  const whole = await change(asked);
  const factors = {
    speed: speed > 1 ? spoken / clipSeconds(asked) : 1,
    tempo: isSame ? 1 : clipSeconds(asked) / clipSeconds(whole),
  };
  const clip =
    clipSeconds(whole) <= allowedSeconds
      ? whole
      : await speakFirstWords({
          text: slot.text,
          whole,
          allowedSeconds,
          say: async (text) => change(await sayText(speaking, text, speed)),
          language: speaking.language,
        });
  const seconds = clipSeconds(clip);
  const cutSeconds = clipSeconds(whole) - seconds;
  const isChanged = factors.speed !== 1 || factors.tempo !== 1;
  const faster = isChanged ? (factors.tempo === 1 ? 'speed' : 'tempo') : 'none';
  const fit = clip === whole ? faster : 'cut';
  return { clip, fit: { cues: slot.indexes, fit, ...factors, seconds, allowedSeconds, cutSeconds } };
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

/** Speaks as many whole words as fit, faded out. If not even one fits, it is cut off. */
async function speakFirstWords({ text, whole, allowedSeconds, say, language }: LongText): Promise<Clip> {
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
  return fadeOut(cutClip(clip, Math.floor(allowedSeconds * clip.sampleRate)));
}

/** Positions in a text at which its words end. */
function wordEnds(text: string, language: string): number[] {
  const words = [...new Intl.Segmenter(language, { granularity: 'word' }).segment(text)];
  return words.filter(({ isWordLike }) => isWordLike).map(({ index, segment }) => index + segment.length);
}
