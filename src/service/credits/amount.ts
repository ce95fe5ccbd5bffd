/** Credits are decimal numbers outside and whole thousandths inside, so that sums are exact. */
const THOUSANDTHS = 1000;

export function toThousandths(credits: number): number {
  return Math.round(credits * THOUSANDTHS);
}

export function toCredits(thousandths: number): number {
  return thousandths / THOUSANDTHS;
}
