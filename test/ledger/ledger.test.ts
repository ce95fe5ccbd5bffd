/**
 * What is sent and paid, for each way of running: the requests for jobs with their keys, what --dry-run says of them before, and the
 * files that are there in the end. After a change on purpose, run `npx vitest run test/ledger -u` and review the diff.
 */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { playScene } from './desk.ts';
import { AGAIN } from './scenes/again.ts';
import { KILLED } from './scenes/killed.ts';
import { PLAIN } from './scenes/plain.ts';
import { STAGED } from './scenes/stages.ts';

describe('the ledger', () => {
  const blocks: string[] = [];

  it.each([...PLAIN, ...AGAIN, ...STAGED, ...KILLED])(
    'has one plan, one payment and one end for $name',
    async (scene) => {
      blocks.push(`=== ${scene.name}\n${await playScene(scene)}`);
    },
  );

  it('is as it was recorded', async () => {
    await expect(blocks.join('\n')).toMatchFileSnapshot(join(import.meta.dirname, 'ledger.txt'));
  });
});
