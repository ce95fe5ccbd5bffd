/** The control interface of a service whose account is in a real PostgreSQL database. */
import { describe, expect, it } from 'vitest';
import { startControlledService } from '../service/harness/controlled.ts';
import { startScene, until } from '../service/harness/scene.ts';
import { freshAccount } from '../support/postgres.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';

const server = usePostgres();

describe.skipIf(NO_POSTGRES)(
  'a controlled service with a database (needs postgresql: sh .ci/packages)',
  () => {
    it('does not move its clock while another node uses the database, and does so when that has stopped', async () => {
      const database = freshAccount(server);
      const { ask, stateDir } = await startControlledService({ database });
      const other = await startScene({ database, stateDir });
      for (const path of ['/clock/advance', '/clock/freeze']) {
        const { status, json } = await ask(
          'POST',
          path,
          path.endsWith('advance') ? { seconds: 1 } : undefined,
        );
        expect([path, status]).toEqual([path, 400]);
        expect(json.detail).toContain('2 nodes use the database');
      }
      expect((await ask('POST', '/credits', { credits: 1 })).status).toBe(200);
      await other.service.close();
      await until(
        () => ask('POST', '/clock/advance', { seconds: 3600 }),
        ({ status }) => status === 200,
      );
      expect((await ask('POST', '/clock/freeze')).status).toBe(200);
    });
  },
);
