import { describe, expect, it } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { startVloc } from '../commands/support/run-vloc.ts';
import { createTestIo } from '../support/test-io.ts';

/** A run that could not reach any service: what ends with 2 here has sent nothing. */
async function run(...argv: string[]) {
  const test = createTestIo({ env: { VLOC_BASE_URL: 'https://api.invalid/v1' } });
  const code = await main(argv, test.io);
  return { code, stdout: test.stdout(), stderr: test.stderr() };
}

describe('--jq', () => {
  it('prints text without quotes and values as JSON, one per line, and implies JSON', async () => {
    const { stdout } = await run('schema', '--jq', '.openapi, .servers');
    expect(stdout).toBe('3.1.0\n[{"url":"https://api.invalid/v1"}]\n');
  });

  it('reports that it does not fit the data', async () => {
    const { code, stdout, stderr } = await run('schema', '--jq', '.openapi.version');
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('the jq expression does not fit the data: Cannot index string');
  });

  it('works on every line of ndjson', async () => {
    const vloc = await startVloc();
    const { stdout } = await vloc.run(['credits', '-o', 'ndjson', '--jq', '.object // .type']);
    expect(stdout).toBe('credit_balance\nsummary\n');
  });

  it('does not hide a failure of the command itself', async () => {
    const vloc = await startVloc();
    const { code, stderr } = await vloc.run(['jobs', 'get', 'tra_x', 'tra_y', '--jq', '.data.x.y']);
    expect(code).toBe(1);
    expect(stderr).toContain('RESOURCE_NOT_FOUND');
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
