/** Transactions and statements of one connection, whatever is requested at the same time. */
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Statements } from '../../../src/service/store/store.ts';
import { runs } from '../../protocol/arbitraries.ts';
import { openBareStore } from '../harness/stores.ts';

async function openNames() {
  const { store, file } = await openBareStore();
  file.script('CREATE TABLE names (name TEXT PRIMARY KEY) STRICT');
  const names = async (statements: Statements = store) => {
    const rows = await statements.all<{ name: string }>('SELECT name FROM names ORDER BY name');
    return rows.map(({ name }) => name);
  };
  const insert = (statements: Statements, name: string) =>
    statements.run('INSERT INTO names VALUES (?)', name);
  return { store, file, names, insert };
}

/** Some microtasks, as a transaction has between its statements. */
async function pass(count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await null;
}

describe('a statement outside a transaction', () => {
  it('does not see what the transaction has not committed, and runs after it', async () => {
    const { store, names, insert } = await openNames();
    const within = store.transaction(async (tx) => {
      await insert(tx, 'within');
      const own = await names(tx);
      await pass(20);
      return own;
    });
    const outside = [names(), insert(store, 'outside'), names()];
    expect(await within).toEqual(['within']);
    expect(await Promise.all(outside)).toEqual([['within'], 1, ['outside', 'within']]);
    await store.close();
  });

  it('is not undone with the transaction', async () => {
    const { store, names, insert } = await openNames();
    const undone = store.transaction(async (tx) => {
      await insert(tx, 'within');
      await pass(20);
      throw new Error('undone');
    });
    const outside = insert(store, 'outside');
    await expect(undone).rejects.toThrow('undone');
    expect(await outside).toBe(1);
    expect(await names()).toEqual(['outside']);
    await store.close();
  });
});

/** What one caller does: a single statement, or a transaction of several that may fail at its end. */
const action = fc.record({
  names: fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { minLength: 1, maxLength: 4 }),
  isTransaction: fc.boolean(),
  pauses: fc.nat({ max: 3 }),
  fails: fc.boolean(),
});

describe('transactions', () => {
  it('have the same effect as one after another, in the order of their requests', async () => {
    const { store, file, names, insert } = await openNames();
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 12 }), async (actions) => {
        file.script('DELETE FROM names');
        const expected = new Set<string>();
        const outcomes: boolean[] = [];
        const requested = actions.map(({ names: given, isTransaction, pauses, fails }) => {
          const chosen = isTransaction ? given : given.slice(0, 1);
          const isNew = new Set(chosen).size === chosen.length && chosen.every((name) => !expected.has(name));
          const succeeds = isNew && !(isTransaction && fails);
          outcomes.push(succeeds);
          if (succeeds) for (const name of chosen) expected.add(name);
          if (!isTransaction) return insert(store, chosen[0] ?? '');
          return store.transaction(async (tx) => {
            for (const name of chosen) {
              await insert(tx, name);
              await pass(pauses);
            }
            if (fails) throw new Error('fails');
          });
        });
        const settled = await Promise.allSettled(requested);
        expect(settled.map(({ status }) => status === 'fulfilled')).toEqual(outcomes);
        expect(await names()).toEqual([...expected].sort());
      }),
      { numRuns: runs(40, 3_000) },
    );
    await store.close();
  });

  it('that fail while they begin leave none open', async () => {
    const { store, file, names, insert } = await openNames();
    await insert(store, 'before');
    const statements: { run: (...values: unknown[]) => unknown } = Object.getPrototypeOf(
      new DatabaseSync(':memory:').prepare('SELECT 1'),
    );
    const { run } = statements;
    // What a caller sees of a time-out: it was done, and nobody can tell.
    statements.run = function (this: { sourceSQL: string }, ...values) {
      const result = Reflect.apply(run, this, values);
      if (this.sourceSQL === 'BEGIN IMMEDIATE') throw new Error('timed out');
      return result;
    };
    try {
      await expect(store.transaction((tx) => insert(tx, 'within'))).rejects.toThrow('timed out');
      expect(() => file.transaction(() => 1)).toThrow('timed out');
    } finally {
      statements.run = run;
    }
    await store.transaction((tx) => insert(tx, 'after'));
    expect(await names()).toEqual(['after', 'before']);
    await store.close();
  });
});

describe('closing', () => {
  it('waits for earlier requests, and refuses later ones', async () => {
    const { store, insert, file } = await openNames();
    const first = store.transaction(async (tx) => {
      await insert(tx, 'a');
      await pass(20);
      return file.get('SELECT count(*) AS count FROM names');
    });
    const before = [insert(store, 'b'), store.transaction((tx) => insert(tx, 'c'))];
    const closed = store.close();
    const late = Promise.allSettled([insert(store, 'd')]).then(([outcome]) => outcome);
    expect(await first).toEqual({ count: 1 });
    expect(await Promise.all(before)).toEqual([1, 1]);
    await closed;
    expect((await late).status).toBe('rejected');
  });
});
