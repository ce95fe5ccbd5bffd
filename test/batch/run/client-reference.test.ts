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
import { makeFolder } from '../../support/make-folder.ts';
import { linesItem } from './support/items.ts';

describe('the reference of a job', () => {
  it('names the folder by its real path', async () => {
    const folder = makeFolder();
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

  const IDS = { batch: '0123456789', item: '0123456789abcdef' };
  const WITHOUT_NAME = 'vloc:0123456789:0123456789abcdef';

  it('is read back, and distinguished from those of others', () => {
    expect(readReference(WITHOUT_NAME)).toEqual({ ...IDS, name: null });
    for (const other of [
      null,
      '',
      'lesson 4',
      `${WITHOUT_NAME}0`,
      'vloc:0123456789:',
      WITHOUT_NAME.toUpperCase(),
    ])
      expect(readReference(other)).toBeNull();
  });

  it.each([
    ['talk', 'es', `${WITHOUT_NAME}:es:talk`],
    ['Übung 1: 日本', 'zh-Hant', `${WITHOUT_NAME}:zh-Hant:%C3%9Cbung%201%3A%20%E6%97%A5%E6%9C%AC`],
    ['talk', null, `${WITHOUT_NAME}::talk`],
  ])('has the stem %j and the language %j for the name of the result, in ASCII', (stem, language, text) => {
    const reference = { ...IDS, name: { stem, language } };
    expect(writeReference(reference)).toBe(text);
    expect(readReference(text)).toEqual(reference);
  });

  it('has no name that would make it longer than a service accepts', () => {
    const text = writeReference({ ...IDS, name: { stem: 'x'.repeat(93), language: 'es' } });
    expect(text).toBe(WITHOUT_NAME);
    const longest = writeReference({ ...IDS, name: { stem: 'x'.repeat(92), language: 'es' } });
    expect(longest).toHaveLength(LIMITS.clientReferenceLength);
  });

  it.each([':es:%', ':es:%FF', ':%:../x'])('with the ending %j of others is read as it is', (ending) => {
    const [, language, stem] = ending.split(':');
    expect(readReference(`${WITHOUT_NAME}${ending}`)?.name).toEqual({ stem, language });
  });
});
