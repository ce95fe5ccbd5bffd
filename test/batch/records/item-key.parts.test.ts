import { describe, expect, it } from 'vitest';
import type { AskedRecord } from '../../../src/batch/records/attempts.ts';
import {
  digestMaking,
  itemKey,
  partAttempts,
  partKey,
  readPartKey,
} from '../../../src/batch/records/item-key.ts';
import { foldAttempts } from './support/attempts.ts';

const ITEM = itemKey('subtitle_recognition', 'talk.mp4', null);
const NAMED = itemKey('auto_localization', 'week 1/"talk".mp4', 'es', '{stem}{ext}');

const asked = (key: string, item: string, minute: number): AskedRecord => ({
  type: 'asked',
  key,
  asked_at: `2026-11-21T12:${String(minute).padStart(2, '0')}:00.000Z`,
  kind: 'subtitle_recognition',
  item,
  body_sha256: 'a'.repeat(64),
  request: {},
  input_sha256: null,
  is_free: false,
});

describe('the key of a part', () => {
  it.each([ITEM, NAMED])('leads back to its item: %s', (item) => {
    const name = { part: 2, of: 3, made: digestMaking(['a']) };
    const key = partKey(item, name);
    expect(key).not.toBe(item);
    expect(readPartKey(key)).toEqual({ item, name });
  });

  it.each([ITEM, NAMED, 'no key', '["a"}]'])('is distinguished from others: %s', (key) => {
    expect(readPartKey(key)).toBeNull();
  });

  it('differs if the part was made from something else', () => {
    expect(digestMaking(['bytes', 'es'])).not.toBe(digestMaking(['bytes', 'fr']));
  });
});

describe('the attempts of the parts of an item', () => {
  it('are the newest of the last division, in order', () => {
    const of = (part: number, made: string) => partKey(ITEM, { part, of: 2, made });
    const attempts = foldAttempts([
      asked('old-1', of(1, 'old'), 0),
      asked('other', partKey(NAMED, { part: 1, of: 2, made: 'new' }), 9),
      asked('new-2', of(2, 'new'), 3),
      asked('new-1', of(1, 'new'), 2),
      asked('again-1', of(1, 'new'), 4),
    ]);
    expect(partAttempts(ITEM, attempts).map(({ key }) => key)).toEqual(['again-1', 'new-2']);
  });
});
