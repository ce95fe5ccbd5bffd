import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OPERATIONS } from '../../src/protocol/operations.ts';
import type { ListPage } from '../../src/protocol/resources.ts';
import { issueKey } from '../../src/service/auth/keys.ts';
import type { OperationCall } from '../../src/service/context.ts';
import { createCursorSealer } from '../../src/service/cursors.ts';
import { readPage } from '../../src/service/lists.ts';
import type { Store } from '../../src/service/store/store.ts';
import { runs } from '../protocol/arbitraries.ts';
import { openEmptyAccount } from './harness/stores.ts';

/** Ten thousand lists on a busy machine take a minute. */
const PATIENCE = { timeout: 180_000 };

interface Row {
  readonly id: string;
  readonly created_at: number;
}

/** Few moments, so that many records share one and the id has to decide. */
const moment = fc.nat({ max: 4 });
const records = fc.array(moment, { maxLength: 12 });
/** What happens between two pages: records come in at any moment, old ones too, and some go. */
const change = fc.record({
  come: fc.array(moment, { maxLength: 3 }),
  go: fc.array(fc.nat(), { maxLength: 3 }),
});

async function insert(store: Store, keyId: string, createdAt: number): Promise<Row> {
  const id = `upl_${randomBytes(13).toString('hex')}`;
  await store.run(
    `INSERT INTO uploads (id, key_id, status, purpose, file_name, content_type, size_bytes, created_at, updated_at, expires_at)
     VALUES (?, ?, 'ready', 'subtitle_file', 'a', 'a/b', 1, ?, ?, 9)`,
    id,
    keyId,
    createdAt,
    createdAt,
  );
  return { id, created_at: createdAt };
}

test(
  'whatever is added and removed between pages, each remaining item is seen once, in strictly descending order',
  PATIENCE,
  async () => {
    const { store, file } = await openEmptyAccount();
    const { key: keyId } = await issueKey(store, {}, 0, randomBytes);
    const cursors = createCursorSealer(randomBytes(32), randomBytes);
    const operation = OPERATIONS.find(({ operationId }) => operationId === 'listUploads');
    const key = await store.get<OperationCall['key']>('SELECT * FROM keys WHERE id = ?', keyId);
    if (operation === undefined || key === undefined) throw new Error('unreachable');
    const call = {
      operation,
      key,
      path: '/v1/uploads',
      resourceId: '',
      body: undefined,
      idempotencyKey: '',
      now: 5,
    };

    const page = (limit: number, cursor: string | null) => {
      const query = new Map([
        ['limit', String(limit)],
        ...(cursor === null ? [] : [['cursor', cursor] as const]),
      ]);
      return readPage<Row, Row>(
        { store, cursors },
        { ...call, query },
        {
          table: 'uploads',
          columns: 'id, created_at',
          timeColumn: 'created_at',
          conditions: [],
          filters: {},
          positionOf: (row) => ({ time: row.created_at, id: row.id }),
          present: (row) => ({ id: row.id, created_at: row.created_at }),
        },
      );
    };

    await fc.assert(
      fc.asyncProperty(
        records,
        fc.array(change, { maxLength: 12 }),
        fc.integer({ min: 1, max: 5 }),
        async (there, changes, limit) => {
          file.script('DELETE FROM uploads;');
          const present = new Map<string, Row>();
          for (const at of there) {
            const row = await insert(store, keyId, at);
            present.set(row.id, row);
          }
          const throughout = new Set(present.keys());
          const seen: Row[] = [];
          let cursor: string | null = null;
          do {
            const { data, next_cursor }: ListPage<Row> = await page(limit, cursor);
            seen.push(...data);
            cursor = next_cursor;
            const { come = [], go = [] } = changes.shift() ?? {};
            for (const at of come) {
              const row = await insert(store, keyId, at);
              present.set(row.id, row);
            }
            for (const which of go) {
              const id = [...present.keys()].at(which % Math.max(1, present.size));
              if (id === undefined) continue;
              await store.run('DELETE FROM uploads WHERE id = ?', id);
              present.delete(id);
              throughout.delete(id);
            }
          } while (cursor !== null);

          const places = seen.map(({ created_at, id }) => `${created_at} ${id}`);
          expect(places).toEqual([...new Set(places)].sort().reverse());
          const ids = new Set(seen.map(({ id }) => id));
          expect([...throughout].filter((id) => !ids.has(id))).toEqual([]);
        },
      ),
      { numRuns: runs(40, 10_000) },
    );
  },
);
