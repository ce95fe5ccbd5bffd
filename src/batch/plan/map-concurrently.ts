/** Runs the work on all items, at most `width` at a time. The results are in the order of the items. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results = new Map<number, R>();
  const queue = items.entries();
  const worker = async () => {
    for (const [position, item] of queue) results.set(position, await work(item));
  };
  await Promise.all(Array.from({ length: width }, worker));
  return [...results].toSorted(([left], [right]) => left - right).map(([, result]) => result);
}
