import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { createService } from '../../../src/service/index.ts';
import { createSmallEngines } from '../../service/harness/small-engines.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';

/** Each command that opens the store of this machine. */
const COMMANDS: readonly (readonly string[])[] = [
  ['credits'],
  ['translate', 'a.srt', '--from', 'en', '--to', 'es', '--out', 'out'],
  ['serve'],
  ['serve', 'keys', 'list'],
  ['serve', 'keys', 'create'],
];

async function startDamaged(damage: (path: string, folder: string) => Promise<void>) {
  const vloc = await startVloc();
  const state = join(vloc.folder, 'own');
  await writeFile(join(vloc.folder, 'a.srt'), SRT);
  await (await createService({ stateDir: state, engines: createSmallEngines(), log: () => {} })).close();
  const path = join(state, 'service.sqlite');
  await writeFile(join(state, 'uploads', 'talk'), 'video');
  await damage(path, state);
  const run = (words: readonly string[]) => {
    const local = words[0] === 'serve' ? words : [...words, '--profile', 'local'];
    const env = { VLOC_BASE_URL: '', VLOC_KEY: '', VLOC_SECRET: '', VLOC_STATE_DIR: state };
    return vloc.run(local, { env });
  };
  return { ...vloc, path, state, run };
}

test('damage that is found by a running service ends the run with its message, exit code 10', async () => {
  const { run, path } = await startDamaged(async (store) => {
    const whole = await readFile(store);
    const database = new DatabaseSync(store);
    database.exec(`
      INSERT INTO ledger (id, amount, posted_at, key_id, client_reference)
      WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 12000)
      SELECT printf('tx_%06d', n), 1, n, (SELECT id FROM keys), hex(zeroblob(200)) FROM counter`);
    database.close();
    const bytes = await readFile(store);
    await writeFile(store, bytes.fill(0xa5, whole.length));
  });
  for (const words of [['credits', 'history'], COMMANDS[1] ?? []]) {
    const { code, stderr } = await run(words);
    expect([words, code]).toEqual([words, 10]);
    expect(stderr).toContain(`cannot use the store ${path}: it is damaged`);
    expect(stderr).not.toMatch(/defect|\n\s+at /);
  }
});
