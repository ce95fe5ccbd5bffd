/** Words that must be changed, added or removed to make what was heard into what was said, as a share of what was said. */
export function wordErrorRate(said: string, heard: string): number {
  const words = (text: string) =>
    text
      .toLowerCase()
      .replace(/\bmr\./g, 'mister')
      .match(/[a-z']+/g) ?? [];
  const wanted = words(said);
  const given = words(heard);
  let row = given.map((_, at) => at + 1);
  row.unshift(0);
  for (const [at, word] of wanted.entries()) {
    const next = [at + 1];
    for (const [column, other] of given.entries()) {
      const substituted = (row[column] ?? 0) + (word === other ? 0 : 1);
      next.push(Math.min(substituted, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return (row.at(-1) ?? 0) / wanted.length;
}
