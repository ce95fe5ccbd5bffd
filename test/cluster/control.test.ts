/** The control interface of a service whose account is in a real PostgreSQL database. */
import { describe, expect, it } from 'vitest';
import { exchange } from '../service/harness/caller.ts';
import { startControlledService } from '../service/harness/controlled.ts';
import { startScene, until, untilJob } from '../service/harness/scene.ts';
import { freshAccount } from '../support/postgres.ts';
import { NO_POSTGRES, usePostgres } from '../support/use-postgres.ts';

const server = usePostgres();

const LINES = [{ index: 1, start_ms: 0, end_ms: 1, text: 'a' }];
const DUBBING = { subtitle: { type: 'lines', lines: LINES }, target_language: 'es' };
const DAY_SECONDS = 86_400;

describe.skipIf(NO_POSTGRES)(
  'a controlled service with a database (needs postgresql: sh .ci/packages)',
  () => {
    it('moves its clock, and grants credits and changes keys in the database', async () => {
      const { ask, caller } = await startControlledService({ database: freshAccount(server) });
      const { json: job } = await caller.post('/v1/dubbings', DUBBING);
      const done = await untilJob(caller, job, 'succeeded');
      const { json: clock } = await ask('POST', '/clock/advance', { seconds: DAY_SECONDS + 1 });
      expect(clock.offset_seconds).toBe(DAY_SECONDS + 1);
      expect((await exchange(done.result.audio.url)).status).toBe(410);
      const { json: credits } = await ask('POST', '/credits', { credits: 5 });
      expect((await caller.get('/v1/credits')).json.balance_credits).toBe(credits.balance_credits);
      const { json: again } = await caller.post('/v1/dubbings', DUBBING);
      expect(await untilJob(caller, again, 'succeeded')).toMatchObject({ billing: { status: 'settled' } });
    });

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
