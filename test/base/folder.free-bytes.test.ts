import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freeBytes } from '../../src/base/folder.ts';

it('the free space of a missing folder is that of its parent', async () => {
  const free = await freeBytes(join(tmpdir(), 'not', 'there', 'yet'));
  expect(free).toBeGreaterThan(0);
});
