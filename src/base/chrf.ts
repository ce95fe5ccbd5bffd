/** The measure of translations by character n-grams. Source: Popović, "chrF", WMT 2015, with the settings of sacreBLEU's chrF2. */

const LONGEST = 6;
/** How much more recall counts than precision. */
const BETA = 2;

/**
 * Returns how much of the characters of references and translations agree, from 0 to 100, over all sentences together. Spaces
 * do not count.
 * @param translations in the order of the references
 */
export function chrF(translations: readonly string[], references: readonly string[]): number {
  const scores: number[] = [];
  for (let order = 1; order <= LONGEST; order += 1) {
    let [common, made, wanted] = [0, 0, 0];
    for (const [at, reference] of references.entries()) {
      const [ours, theirs] = [gramsOf(translations[at] ?? '', order), gramsOf(reference, order)];
      for (const [gram, count] of theirs) common += Math.min(count, ours.get(gram) ?? 0);
      made += total(ours);
      wanted += total(theirs);
    }
    if (made === 0 || wanted === 0) continue; // all sentences are shorter
    const [precision, recall] = [common / made, common / wanted];
    const weighted = BETA ** 2 * precision + recall;
    scores.push(weighted === 0 ? 0 : ((1 + BETA ** 2) * precision * recall) / weighted);
  }
  if (scores.length === 0) return 0;
  return (100 * scores.reduce((sum, score) => sum + score, 0)) / scores.length;
}

function gramsOf(text: string, order: number): Map<string, number> {
  const characters = [...text.replaceAll(/\s/g, '')];
  const grams = new Map<string, number>();
  for (let at = 0; at + order <= characters.length; at += 1) {
    const gram = characters.slice(at, at + order).join('');
    grams.set(gram, (grams.get(gram) ?? 0) + 1);
  }
  return grams;
}

function total(grams: ReadonlyMap<string, number>): number {
  return [...grams.values()].reduce((sum, count) => sum + count, 0);
}
