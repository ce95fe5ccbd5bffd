/** The embedded service counts credits, as every service does, and shows no money. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeFolder } from '../../support/make-folder.ts';
import { runMain, variablesIn } from '../../support/run-main.ts';
import { expectDescribed } from '../support/output-schemas.ts';
import { QUICK } from '../support/run-vloc.ts';

const MONEY = /credit|cost|paid|charged|price/i;

test('no table, note or report of the embedded service mentions money, and JSON has its counts', async () => {
  const folder = makeFolder();
  await writeFile(join(folder, 'talk.srt'), '1\n00:00:00,000 --> 00:00:02,000\nuno\n');
  const env = variablesIn(folder);
  const run = async (...words: string[]) => {
    const ended = await runMain(words, { cwd: folder, pace: QUICK, env });
    await expectDescribed(words, ended);
    expect(ended.code, ended.stderr).toBe(0);
    return ended;
  };
  const dub = (...more: string[]) => run('dub', 'talk.srt', '--to', 'es', '--profile', 'local', ...more);
  const shown = async (...ended: { stdout: string; stderr: string }[]) =>
    ended.map(({ stdout, stderr }) => stdout + stderr.replace('Cost: none (embedded service).', '')).join('');
  expect(await shown(await dub())).not.toMatch(MONEY);
  // Now the service has a price, and counts what it has charged.
  const again = await dub('--fresh', '--clobber', '--dry-run');
  expect(await shown(again, await run('batch', 'status', '.', '--all'))).not.toMatch(MONEY);
  expect(await shown(await run('batch', 'report', '.'))).not.toMatch(MONEY);
  const plan = JSON.parse((await dub('--fresh', '--clobber', '--dry-run', '-o', 'json')).stdout);
  expect(plan).toMatchObject({ credits: expect.any(Number), items: [{ credits: expect.any(Number) }] });
  const { items, credits } = JSON.parse((await run('batch', 'status', '.', '-o', 'json')).stdout);
  expect(credits.charged).toBeGreaterThan(0);
  expect(items).toMatchObject([{ is_free: true, credits: { charged: credits.charged } }]);
});
