import { expect, test } from 'vitest';
import { LINES, untilJob } from '../../service/harness/scene.ts';
import { changeStore } from '../../service/harness/stores.ts';
import { startVloc } from '../support/run-vloc.ts';

test('the balance is a table for people, a record for programs, one number for scripts', async () => {
  const vloc = await startVloc();
  const table = await vloc.run(['credits']);
  expect(table.code).toBe(0);
  expect(table.stdout).toMatch(
    /^AVAILABLE +BALANCE +RESERVED +THIS MONTH\n100000 +100000 +0 +0 used, no limit, new month in /,
  );
  const json = JSON.parse((await vloc.run(['credits', '-o', 'json'])).stdout);
  expect(json).toMatchObject({ object: 'credit_balance', available_credits: 100_000 });
  expect((await vloc.run(['credits', '-o', 'id'])).stdout).toBe('100000\n');
});

test('the history lists charges, with --all over all pages', async () => {
  const vloc = await startVloc();
  changeStore(
    vloc.stateDir,
    `INSERT INTO ledger (id, amount, posted_at, key_id, job_id, kind, unit, quantity)
     WITH RECURSIVE counter (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counter WHERE n < 52)
     SELECT printf('txn_%d', n), -1000, n, (SELECT id FROM keys), printf('tra_%d', n), 'subtitle_translation', 'line', 1
     FROM counter`,
  );
  const some = await vloc.run(['credits', 'history', '-o', 'json']);
  expect(JSON.parse(some.stdout)).toMatchObject({ object: 'list', has_more: true });
  expect(JSON.parse(some.stdout).data).toHaveLength(20);
  expect(some.stderr).toContain('There are more transactions: use --all');
  const { json } = await vloc.caller.post('/v1/dubbings', { subtitle: LINES, target_language: 'es' });
  await untilJob(vloc.caller, json, 'succeeded');
  const shown = await vloc.run(['credits', 'history', '--limit', '1']);
  expect(shown.stdout).toMatch(/dubbing +1 started thousand characters +dub_/);
  const sum = await vloc.run(['credits', 'history', '--all', '--jq', '.data | map(.amount) | add']);
  expect(sum.stdout).toBe('-53\n');
});

test('the history of a period without charges is empty', async () => {
  const vloc = await startVloc();
  const { code, stdout, stderr } = await vloc.run([
    'credits',
    'history',
    '--since',
    '2h',
    '--until',
    '2026-11-01',
  ]);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('must be earlier than --until');
  expect(await vloc.run(['credits', 'history', '--since', '2h'])).toEqual({
    code: 0,
    stdout: '',
    stderr: 'No transactions found.\n',
  });
});
