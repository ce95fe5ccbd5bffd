import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  batchReference,
  itemReference,
  readReference,
  writeReference,
} from '../../../src/batch/run/client-reference.ts';
import { LIMITS } from '../../../src/protocol/limits.ts';
import { makeFolder } from '../../commands/support/run-vloc.ts';
import { linesItem } from './support/items.ts';

describe('the reference of a job', () => {
  it('names the folder by its real path', async () => {
    const folder = await makeFolder();
    await mkdir(join(folder, 'out'));
    await symlink(join(folder, 'out'), join(folder, 'link'));
    expect(await batchReference({ folder: join(folder, 'link') })).toBe(
      await batchReference({ folder: join(folder, 'out') }),
    );
    expect(await batchReference({ folder })).not.toBe(await batchReference({ folder: join(folder, 'out') }));
  });

  it('names the content, the language and the options', () => {
    const item = linesItem(1);
    const reference = itemReference(item, 'a');
    expect(itemReference({ ...item, key: 'other', label: 'other' }, 'a')).toBe(reference);
    for (const other of [
      itemReference(item, 'b'),
      itemReference({ ...item, targetLanguage: 'fr' }, 'a'),
      itemReference({ ...item, optionsDigest: '0' }, 'a'),
      itemReference({ ...item, kind: 'dubbing' }, 'a'),
    ])
      expect(other).not.toBe(reference);
  });

  it('is read back, and distinguished from those of others', () => {
    const reference = { batch: '0123456789', item: '0123456789abcdef' };
    const text = writeReference(reference);
    expect(text.length).toBeLessThanOrEqual(LIMITS.clientReferenceLength);
    expect(readReference(text)).toEqual(reference);
    for (const other of [null, '', 'lesson 4', `${text}0`, 'vloc:0123456789:', text.toUpperCase()])
      expect(readReference(other)).toBeNull();
  });
});
