import { describe, expect, it } from 'vitest';
import { describeChange, digestOptions } from '../../../src/batch/inputs/requests.ts';

const digest = (fields: Record<string, unknown>) => digestOptions('auto_localization', fields);

describe('the digest of options', () => {
  it('is 16 hex digits that do not depend on order or on explicit defaults', () => {
    expect(digest({})).toMatch(/^[0-9a-f]{16}$/);
    expect(digest({ resolution: '720p', tone: { b: 1, a: 2 } })).toBe(
      digest({ tone: { a: 2, b: 1 }, mode: 'standard', resolution: '720p' }),
    );
  });

  it('omits what does not change the result', () => {
    const others = {
      target_language: 'es',
      client_reference: 'x',
      callback_url: 'https://example.com',
      source: {},
    };
    expect(digest(others)).toBe(digest({}));
  });

  it.each([{ voice_mode: 'male' }, { source_language: 'en' }, { tone: 'formal' }])(
    'changes with %j',
    (fields) => {
      expect(digest(fields)).not.toBe(digest({}));
    },
  );
});

it('a change is reported by the options, and by the names of fields without one', () => {
  const before = { voice_mode: 'male', tone: 'formal' };
  expect(describeChange('auto_localization', before, { resolution: '720p', tone: ['a'] })).toEqual([
    '--resolution source → 720p',
    'tone formal → ["a"]',
    '--voice-mode male → auto',
  ]);
});
