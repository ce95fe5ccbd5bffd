import { describe, expect, it } from 'vitest';
import { stripAddress, withoutSecrets } from '../../../src/batch/records/secrets.ts';

describe('an address in a record', () => {
  it.each([
    ['https://cdn.example.com/a/b.mp4?X-Signature=canary#canary', 'https://cdn.example.com/a/b.mp4'],
    ['https://user:canary@example.com/a.mp4', 'https://example.com/a.mp4'],
    ['HTTP://example.com:8080/a?canary', 'http://example.com:8080/a'],
    ['https://?canary', 'https://'],
    ['lessons/what?.mp4', 'lessons/what?.mp4'],
    ['upl_01', 'upl_01'],
  ])('%s is recorded as %s', (address, kept) => {
    expect(stripAddress(address)).toBe(kept);
  });

  it('is found however deeply it is nested', () => {
    const params = {
      source: { type: 'url', url: 'https://a.example/x?canary' },
      list: ['https://b.example/?canary', 1, null],
    };
    expect(withoutSecrets(params)).toEqual({
      source: { type: 'url', url: 'https://a.example/x' },
      list: ['https://b.example/', 1, null],
    });
  });
});
