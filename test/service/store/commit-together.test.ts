import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createCommitTogether } from '../../../src/service/store/commit-together.ts';
import { openStore, type Store } from '../../../src/service/store/store.ts';
import { makeStateDir } from '../harness/scene.ts';

/** A store with an empty table of names, which counts its transactions. */
async function openNames(): Promise<{ store: Store; names: () => string[]; begun: () => number }> {
  const store = openStore(join(await makeStateDir(), 'names.sqlite'), { synchronous: 'FULL', advice: '' });
  store.script('CREATE TABLE names (name TEXT PRIMARY KEY) STRICT');
  let begun = 0;
  const counted: Store = {
    ...store,
    transaction(work) {
      begun += 1;
      return store.transaction(work);
    },
  };
  const names = () =>
    store.all<{ name: string }>('SELECT name FROM names ORDER BY name').map(({ name }) => name);
  return { store: counted, names, begun: () => begun };
}

const insert = (store: Store, name: string) => store.run('INSERT INTO names VALUES (?)', name);

test('work that comes at the same moment shares one transaction, and each caller gets its own result', async () => {
  const { store, names, begun } = await openNames();
  const commitTogether = createCommitTogether(store);
  const results = await Promise.all(
    ['a', 'b', 'c'].map((name) =>
      commitTogether(() => {
        insert(store, name);
        return name.toUpperCase();
      }),
    ),
  );
  expect(results).toEqual(['A', 'B', 'C']);
  expect(begun()).toBe(1);
  expect(names()).toEqual(['a', 'b', 'c']);
  store.close();
});

test('work that throws keeps nothing of its own and takes nobody along', async () => {
  const { store, names } = await openNames();
  const commitTogether = createCommitTogether(store);
  const refused = () => {
    insert(store, 'half');
    throw new Error('refused');
  };
  const outcomes = await Promise.allSettled([
    commitTogether(() => insert(store, 'before')),
    commitTogether(refused),
    commitTogether(() => insert(store, 'after')),
  ]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(names()).toEqual(['after', 'before']);
  store.close();
});

test('a store that cannot commit refuses everybody at once', async () => {
  const { store, begun } = await openNames();
  const commitTogether = createCommitTogether(store);
  const waiting = ['a', 'b', 'c'].map((name) => commitTogether(() => insert(store, name)));
  store.close();
  const outcomes = await Promise.allSettled(waiting);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  expect(begun()).toBe(1);
});
