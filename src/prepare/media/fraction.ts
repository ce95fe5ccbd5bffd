/** Frame rates as fractions: 30000/1001 is not 29.97. */

export interface Fraction {
  readonly num: number;
  readonly den: number;
}

/** Reads `30000/1001`; null for `0/0` and for invalid text. */
export function parseFraction(text: string | undefined): Fraction | null {
  const found = /^(\d{1,9})\/(\d{1,9})$/.exec(text ?? '');
  const num = Number(found?.[1] ?? 0);
  const den = Number(found?.[2] ?? 0);
  return num > 0 && den > 0 ? { num, den } : null;
}

export function formatFraction({ num, den }: Fraction): string {
  return `${num}/${den}`;
}

/** The length of a number of frames in seconds, or the start of the frame of that number. */
export function secondsOf(frames: number, rate: Fraction): number {
  return (frames * rate.den) / rate.num;
}

/** The start of the frame of that number in samples; rounded once, so that parts add up. */
export function samplesOf(frames: number, rate: Fraction, sampleRate: number): number {
  return Math.round((frames * rate.den * sampleRate) / rate.num);
}
