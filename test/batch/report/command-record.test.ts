import { describe, expect, it } from 'vitest';
import {
  createBatchCommand,
  foldBatchCommands,
  parseBatchCommand,
  pickLiveCommands,
} from '../../../src/batch/report/command-record.ts';
import { BEGIN, RECORDS } from '../records/support/intents.ts';
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
    expect(parseBatchCommand(JSON.parse(JSON.stringify(record)))).toEqual(record);
  });

  it('is ignored if it has another type or form', () => {
    expect(parseBatchCommand(RECORDS.accepted({ key: 'k' }))).toBeNull();
    expect(parseBatchCommand({ type: 'batch_command', argv: 'dub' })).toBeNull();
  });

  it('counts once for a command that ran again, with its last outcome', () => {
    const [first, other, again] = [
      commandOf(['a'], BEGIN),
      commandOf(['b'], BEGIN + 1, ['dub', 'more']),
      commandOf(['a', 'c'], BEGIN + 2),
    ];
    const accepted = RECORDS.accepted({ key: 'k' });
    expect(foldBatchCommands([first, accepted, other, again])).toEqual([again, other]);
    expect(pickLiveCommands([first, accepted, other, again])).toEqual([accepted, other, again]);
  });

  it('of a watch has the items of all its records, of which only those with news are kept', () => {
    const watching = (ms: number, ...items: string[]) => ({
      ...commandOf([], BEGIN + ms),
      items,
      options: { watch: true },
    });
    const [first, second, again, third] = [
      watching(0, 'x'),
      watching(1, 'y'),
      watching(2, 'x'),
      watching(3, 'z'),
    ];
    const folded = foldBatchCommands([first, second, again, third]);
    expect(folded).toEqual([{ ...third, items: ['x', 'y', 'z'] }]);
    const live = pickLiveCommands([first, second, again, third]);
    expect(live).toEqual([second, again, third]);
    expect(foldBatchCommands(live)[0]?.items.toSorted()).toEqual(['x', 'y', 'z']);
  });
});
