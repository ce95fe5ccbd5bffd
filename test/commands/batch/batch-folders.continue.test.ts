import { describe, expect, it } from 'vitest';
import { readBatchFacts } from '../../../src/batch/report/batch-facts.ts';
import { continueBatch } from '../../../src/commands/batch/batch-folders.ts';
import { BEGIN } from '../../batch/records/support/attempts.ts';
import { recordsOf } from '../../batch/records/support/records-of.ts';
import { commandOf, EVERY_STATE, FOLDER, NOW } from '../../batch/report/journal-records.ts';

const factsFrom = (records: typeof EVERY_STATE) => readBatchFacts(recordsOf(records), FOLDER, NOW);

const callerIn = (cwd: string, env: Record<string, string> = {}) =>
  ({ io: { cwd, env, platform: 'linux' }, service: {} }) as const;

describe('the commands that continue a batch', () => {
  it('are the one that left something open, and the retry of failed items', () => {
    const lines = continueBatch(factsFrom(EVERY_STATE), FOLDER, callerIn('/media'));
    expect(lines).toEqual(['vloc dub subs --to es', 'vloc batch retry out']);
  });

  it('change to the folder in which the command ran, and quote special characters of a shell', () => {
    const command = commandOf(['running'], BEGIN, ['dub', "it's here", '--to', 'es']);
    const lines = continueBatch(factsFrom([command]), FOLDER, callerIn('/', { npm_command: 'exec' }));
    expect(lines).toEqual([`cd media && npx vloc dub 'it'\\''s here' --to es`]);
  });

  it('have the paths that a user would type in the working folder', () => {
    const lines = continueBatch(factsFrom(EVERY_STATE), FOLDER, callerIn('/media/out'));
    expect(lines).toEqual(['cd .. && vloc dub subs --to es', 'vloc batch retry .']);
    const command = commandOf(['running'], BEGIN, ['dub', '/media/subs', '--to', 'es']);
    expect(continueBatch(factsFrom([command]), FOLDER, callerIn('/media'))).toEqual([
      'vloc dub subs --to es',
    ]);
  });

  it('are the newest one if several had the same items, and never one that would pay again', () => {
    const older = commandOf(['running'], BEGIN, ['dub', 'subs', '--to', 'es', '--max-credits', '3']);
    const newer = commandOf(['running'], BEGIN + 1, ['dub', 'subs', '--to', 'es', '--fresh', '--clobber']);
    const lines = continueBatch(factsFrom([newer, older]), FOLDER, callerIn('/media'));
    expect(lines).toEqual(['vloc dub subs --to es --clobber']);
  });

  it('use the service that was used then', () => {
    const command = commandOf(['running'], BEGIN, ['dub', 'subs', '--profile', 'prod', '--to', 'es']);
    const lines = continueBatch(factsFrom([command]), FOLDER, callerIn('/media'));
    expect(lines).toEqual(['vloc dub subs --profile prod --to es']);
  });

  it('are absent if everything is done', () => {
    const done = commandOf(['done']);
    const records = [done, ...EVERY_STATE.filter((record) => 'key' in record && record.key === 'k-done')];
    expect(continueBatch(factsFrom(records), FOLDER, callerIn('/'))).toEqual([]);
  });
});
