import { describe, expect, it } from 'vitest';
import { createBatchCommand } from '../../../src/batch/report/command-record.ts';
import { BEGIN } from '../records/support/intents.ts';
import { recordsOf } from '../records/support/records-of.ts';
import { commandOf } from './journal-records.ts';

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

  it('counts once for a command that ran again, with its last items and time', () => {
    const first = commandOf(['a', 'b'], BEGIN);
    const other = commandOf(['b'], BEGIN + 1, ['dub', 'more']);
    const again = commandOf(['a', 'c'], BEGIN + 2);
    expect(recordsOf([first, other, again]).commands).toEqual([again, other]);
  });

  it('of a watch has the items of all its records', () => {
    const watching = (ms: number, ...items: string[]) => ({
      ...commandOf([], BEGIN + ms),
      items,
      options: { watch: true },
    });
    const records = [watching(0, 'x'), watching(1, 'y'), watching(2, 'x'), watching(3, 'z')];
    const { commands, begun } = recordsOf(records);
    expect(commands).toEqual([{ ...records[3], items: ['x', 'y', 'z'] }]);
    expect(begun.get('x')).toBe(BEGIN + 2);
  });
});
