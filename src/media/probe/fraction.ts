/** Frame rates are fractions, because 30000/1001 is not exactly 29.97. */

export interface Fraction {
  readonly num: number;
  readonly den: number;
}

/** Parses `30000/1001`. Returns null for `0/0` and for invalid text. */
export function parseFraction(text: string | undefined): Fraction | null {
  const found = /^(\d{1,9})\/(\d{1,9})$/.exec(text ?? '');
  const num = Number(found?.[1] ?? 0);
  const den = Number(found?.[2] ?? 0);
  return num > 0 && den > 0 ? { num, den } : null;
}

export function formatFraction({ num, den }: Fraction): string {
  return `${num}/${den}`;
}

/** Returns the length of `frames` frames in seconds, which is also the start of the frame with that number. */
export function secondsOf(frames: number, rate: Fraction): number {
  return (frames * rate.den) / rate.num;
}

/** Returns the start of the frame in samples. Rounded only once, so that the lengths of parts add up exactly. */
export function samplesOf(frames: number, rate: Fraction, sampleRate: number): number {
  return Math.round((frames * rate.den * sampleRate) / rate.num);
}
