import { describe, expect, it } from 'vitest';
import { profileId } from '../../../src/batch/records/profile-id.ts';

describe('the id of a profile', () => {
  const id = profileId('https://api.example.com/v1', 'key_1');

  it('is the same in every run, with or without a trailing slash, and valid as a file name', () => {
    expect(profileId('https://api.example.com/v1/', 'key_1')).toBe(id);
    expect(id).toMatch(/^[0-9a-f]{16}$/);
  });

  it('differs by service and by key, and does not reveal the key', () => {
    expect(profileId('https://api.example.org/v1', 'key_1')).not.toBe(id);
    expect(profileId('https://api.example.com/v1', 'key_2')).not.toBe(id);
    expect(profileId('https://api.example.com/v1\nkey', '_1')).not.toBe(id);
  });
});
