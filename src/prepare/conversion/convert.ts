/** Makes of a video one that the service takes, as a conversion plan says. */
import { join, parse } from 'node:path';
import type { Work } from '../../engines/engine.ts';
import { ENCODER_LIMITS, fileAddress, QUIET } from '../../engines/media/arguments.ts';
import { FEW_ERRORS } from '../../engines/media/decode-check.ts';
import type { Programs } from '../../engines/programs.ts';
import { explaining } from '../failure.ts';
import { aac, copyPicture, H264, ON_TIME } from '../media/codecs.ts';
import type { VideoFacts } from '../media/facts.ts';
import { type Fraction, formatFraction } from '../media/fraction.ts';
import { trackProgress } from '../media/progress.ts';
import { foreignInput } from '../media/source.ts';
import type { ConversionPlan } from './plan.ts';

/** Rates that cameras and players know, in frames a second. */
const COMMON_RATES: readonly Fraction[] = [
  { num: 24000, den: 1001 },
  { num: 24, den: 1 },
  { num: 25, den: 1 },
  { num: 30000, den: 1001 },
  { num: 30, den: 1 },
  { num: 50, den: 1 },
  { num: 60000, den: 1001 },
  { num: 60, den: 1 },
];

/**
 * Writes an MP4 with the stem of the original's name into the work folder and gives its path; a plan of type `none`
 * gives the original's path.
 * @throws PreparationFailure when ffmpeg cannot do it
 */
export async function convert(
  programs: Programs,
  file: string,
  facts: VideoFacts,
  plan: Extract<ConversionPlan, { type: 'none' | 'convert' }>,
  work: Work,
): Promise<string> {
  if (plan.type === 'none') return file;
  const path = join(work.folder, `${parse(file).name}.mp4`);
  const args = [
    ...[...QUIET, ...FEW_ERRORS, '-progress', 'pipe:1'],
    ...foreignInput(file),
    ...['-map', `0:${facts.picture?.index}`, '-map', `0:${plan.track.index}`],
    ...pictureArguments(facts, plan),
    ...(plan.sound === 'copy' ? ['-c:a', 'copy'] : ['-af', ON_TIME, ...aac(plan.track.channels)]),
    ...['-disposition:a:0', 'default', '-movflags', '+faststart', '-f', 'mp4', fileAddress(path)],
  ];
  const onLine = trackProgress(facts.durationSeconds ?? 0, work.report);
  await explaining('the video cannot be converted', () =>
    programs.run('ffmpeg', args, { ...work, onLine, limits: ENCODER_LIMITS }),
  );
  return path;
}

function pictureArguments(facts: VideoFacts, plan: Extract<ConversionPlan, { type: 'convert' }>): string[] {
  if (plan.picture === 'copy') return copyPicture(facts.picture?.codec ?? '');
  const rate = formatFraction(constantRate(facts.picture?.frameRate ?? null));
  const filters = [...(plan.makeConstant ? [`fps=${rate}`] : []), EVEN_SIDES];
  return ['-vf', filters.join(','), ...H264];
}

/** The encoder halves the colours both ways: an odd row or column goes. */
const EVEN_SIDES = 'scale=trunc(iw/2)*2:trunc(ih/2)*2';

/** 29.97 and 30 lie a thousandth apart; a mean is a little off its round number. */
const SAME_SHARE = 0.0005;

/** The lowest common rate that shows all frames of a video with this mean rate; 60 at most, 30 when it is not known. */
export function constantRate(mean: Fraction | null): Fraction {
  const value = mean === null ? 30 : mean.num / mean.den;
  const exact = COMMON_RATES.find((rate) => Math.abs(rate.num / rate.den / value - 1) < SAME_SHARE);
  const enough = exact ?? COMMON_RATES.find((rate) => rate.num / rate.den > value);
  return enough ?? { num: 60, den: 1 };
}
