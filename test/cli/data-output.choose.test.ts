import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startVloc } from '../commands/support/run-vloc.ts';
import { errorOf, runMain } from '../support/run-main.ts';

/** A run that could not reach any service: what ends with 2 here has sent nothing. */
async function run(...argv: string[]) {
  return runMain(argv, { env: { VLOC_BASE_URL: 'https://api.invalid/v1' } });
}

describe('--jq', () => {
  it('prints text without quotes and values as JSON, one per line, and implies JSON', async () => {
    const { stdout } = await run('schema', '--jq', '.openapi, .servers');
    expect(stdout).toBe('3.1.0\n[{"url":"https://api.invalid/v1"}]\n');
  });

  it('that fails after a paid run says how to print what was done, and that pays nothing again', async () => {
    const vloc = await startVloc();
    await writeFile(join(vloc.folder, 'talk.srt'), '1\n00:00:00,000 --> 00:00:01,000\nhello\n');
    const command = ['translate', 'talk.srt', '--from', 'en', '--to', 'es'];
    const { code, stdout, stderr } = await vloc.run([...command, '--jq', '.data.id', '--fresh']);
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).not.toContain('Nothing was sent');
    expect(errorOf({ stderr })).toMatchObject({
      code: 'JQ_DOES_NOT_FIT',
      advice:
        'What the run has done is kept. To print it, run the same command with --output json instead of --jq, without --fresh: nothing is sent or paid twice.',
    });
    const again = await vloc.run([...command, '--output', 'json']);
    expect(JSON.parse(again.stdout).data).toMatchObject([{ status: 'succeeded' }]);
    expect((await vloc.caller.get('/v1/subtitle-translations')).json.data).toHaveLength(1);
  });

  it('works on every line of ndjson', async () => {
    const vloc = await startVloc();
    const { stdout } = await vloc.run(['credits', '-o', 'ndjson', '--jq', '.object // .type']);
    expect(stdout).toBe('credit_balance\nsummary\n');
  });
});

describe('--fields', () => {
  it('implies JSON, or selects the columns of a table', async () => {
    const vloc = await startVloc();
    const json = await vloc.run(['credits', '--fields', 'balance_credits,object']);
    expect(JSON.parse(json.stdout)).toEqual({ balance_credits: 100_000, object: 'credit_balance' });
    const table = await vloc.run(['credits', '--fields', 'reserved_credits,object', '-o', 'table']);
    expect(table.stdout).toBe('RESERVED  OBJECT\n0         credit_balance\n');
  });
});
