import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startScene } from '../../service/harness/scene.ts';
import { changeStore } from '../../service/harness/stores.ts';
import { startVloc } from '../support/run-vloc.ts';

const SRT = '1\n00:00:00,000 --> 00:00:01,000\nhello\n';

test('damage that is found by a running service ends the run with its message, exit code 10', async () => {
  const { folder, run } = await startVloc();
  const state = join(folder, 'own');
  const path = join(state, 'service.sqlite');
  await writeFile(join(folder, 'a.srt'), SRT);
  await (await startScene({ stateDir: state })).service.close();
  const whole = await readFile(path);
  changeStore(
    state,
    `INSERT INTO ledger (id, amount, posted_at, key_id, client_reference)
     WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 12000)
     SELECT printf('tx_%06d', n), 1, n, (SELECT id FROM keys), hex(zeroblob(200)) FROM counter`,
  );
  await writeFile(path, (await readFile(path)).fill(0xa5, whole.length));
  const env = { VLOC_BASE_URL: '', VLOC_KEY: '', VLOC_SECRET: '', VLOC_STATE_DIR: state };
  const translate = ['translate', 'a.srt', '--from', 'en', '--to', 'es', '--out', 'out'];
  const { code, stderr } = await run([...translate, '--profile', 'local'], { env });
  expect(code).toBe(10);
  expect(stderr).toContain(`cannot use the store ${path}: it is damaged`);
  expect(stderr).not.toMatch(/defect|\n\s+at /);
});
