import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { freeBytes } from '../../src/disk/folder.ts';

it('the room of a folder that is yet to be made is that of the one above', async () => {
  const free = await freeBytes(join(tmpdir(), 'not', 'there', 'yet'));
  expect(free).toBeGreaterThan(0);
});
