import { describe, expect, it } from 'vitest';
import { createBatchCommand } from '../../../src/batch/records/command-record.ts';
import { recordsOf } from './support/records-of.ts';

describe('the record of a command', () => {
  it('keeps the words, but not the query of any address', () => {
    const record = createBatchCommand({
      at: '2026-11-01T00:00:00.000Z',
      argv: [
        'localize',
        'https://user:canary@a.example/x.mp4?sig=canary',
        '--callback-url=https://b.example/hook?token=canary#canary',
        '--set',
        'extra.url=https://c.example/?key=canary',
        '--to',
        'es',
      ],
      cwd: '/media',
      profile: 'prod',
      kind: 'auto_localization',
      operands: ['https://user:canary@a.example/x.mp4?sig=canary'],
      options: {
        callbackUrl: 'https://b.example/hook?token=canary',
        set: { 'extra.url': 'https://c.example/?canary' },
      },
      items: [],
    });
    expect(JSON.stringify(record)).not.toContain('canary');
    expect(record.argv).toEqual([
      'localize',
      'https://a.example/x.mp4',
      '--callback-url=https://b.example/hook',
      '--set',
      'extra.url=https://c.example/',
      '--to',
      'es',
    ]);
    expect(recordsOf([record]).commands).toEqual([record]);
  });
});
