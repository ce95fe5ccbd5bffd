/** `vloc serve keys` on an account in a database. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { freshAccount } from '../support/postgres.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';

const ENTRY = fileURLToPath(new URL('../cli/support/run.ts', import.meta.url));

const server = usePostgres();

describe.skipIf(NO_POSTGRES)('the keys in a database (needs postgresql: sh .ci/packages)', () => {
  it('need no folder, so that a user without a home creates them', () => {
    // A folder that nobody can create, not even root.
    const env = {
      PATH: process.env.PATH,
      HOME: '/dev/null',
      VLOC_NO_UPDATE_NOTICE: '1',
      VLOC_DATABASE: freshAccount(server),
    };
    const words = [ENTRY, 'serve', 'keys', 'create', '--output', 'json'];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, expect.not.stringContaining('DISK_ERROR')]);
    expect(JSON.parse(stdout)).toMatchObject({ key: expect.any(String), secret: expect.any(String) });
  });
});
