import { expect, test } from 'vitest';
import { createCommitTogether } from '../../../src/service/store/commit-together.ts';
import type { Statements, Store } from '../../../src/service/store/store.ts';
import { openBareStore } from '../harness/stores.ts';

/** A store with an empty table of names, which counts its transactions. */
async function openNames(): Promise<{ store: Store; names: () => Promise<string[]>; begun: () => number }> {
  const { store, file } = await openBareStore();
  file.script('CREATE TABLE names (name TEXT PRIMARY KEY) STRICT');
  let begun = 0;
  const counted: Store = {
    ...store,
    transaction(work) {
      begun += 1;
      return store.transaction(work);
    },
  };
  const names = async () => {
    const rows = await store.all<{ name: string }>('SELECT name FROM names ORDER BY name');
    return rows.map(({ name }) => name);
  };
  return { store: counted, names, begun: () => begun };
}

const insert = (store: Statements, name: string) => store.run('INSERT INTO names VALUES (?)', name);

test('work that arrives at the same moment shares one transaction, and each caller gets its own result', async () => {
  const { store, names, begun } = await openNames();
  const commitTogether = createCommitTogether(store);
  const results = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      commitTogether(async (tx) => {
        await insert(tx, name);
        return name.toUpperCase();
      }),
    ),
  );
  expect(results).toEqual(['A', 'B', 'C']);
  expect(begun()).toBe(1);
  expect(await names()).toEqual(['a', 'b', 'c']);
  await store.close();
});

test('work that throws keeps nothing of its own and does not affect others', async () => {
  const { store, names } = await openNames();
  const commitTogether = createCommitTogether(store);
  const refused = async (tx: Statements) => {
    await insert(tx, 'half');
    throw new Error('refused');
  };
  const outcomes = await Promise.allSettled([
    commitTogether((tx) => insert(tx, 'before')),
    commitTogether(refused),
    commitTogether((tx) => insert(tx, 'after')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await names()).toEqual(['after', 'before']);
  await store.close();
});

test('a store that cannot commit refuses everybody immediately', async () => {
  const { store, begun } = await openNames();
  const commitTogether = createCommitTogether(store);
  const waiting = ['a', 'b', 'c'].map((name) => commitTogether((tx) => insert(tx, name)));
  await store.close();
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(begun()).toBe(1);
});
