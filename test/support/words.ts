/** Returns the word error rate: insertions, deletions and substitutions divided by the number of spoken words. */
export function wordErrorRate(said: string, recognized: string): number {
  const reference = wordsOf(said);
  const heard = wordsOf(recognized);
  let row = Array.from({ length: heard.length + 1 }, (_, column) => column);
  for (const [index, word] of reference.entries()) {
    const next = [index + 1];
    for (const [column, other] of heard.entries()) {
      const substituted = (row[column] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(substituted, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return (row[heard.length] ?? 0) / reference.length;
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .replace(/[^a-z' ]+/g, ' ')
    .split(/\s+/)
    .filter((word) => word !== '');
}
