/** How wide a text is on a terminal, in cells. */
export type Measure = (text: string) => number;

const ASCII = /^[\x20-\x7e]*$/;

/**
 * A measure for these texts and their parts. ASCII needs no tables of Unicode, whose loading takes longer than a short
 * command.
 */
export async function loadMeasure(texts: readonly string[]): Promise<Measure> {
  if (texts.every((text) => ASCII.test(text))) return (text) => text.length;
  return (await import('string-width')).default;
}
