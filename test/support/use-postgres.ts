/** A PostgreSQL server for the tests of a file. */
import { afterAll, beforeAll, inject } from 'vitest';
import { POSTGRES_PROGRAMS, type PostgresServer, startPostgres } from './postgres.ts';

/** True where it is not installed: the tests that need it are skipped. */
export const NO_POSTGRES = POSTGRES_PROGRAMS === null;

/** Returns the server of the run, for tests that neither stop it nor look at the accounts of others. */
export function usePostgres(): Pick<PostgresServer, 'url'> {
  return { url: inject('postgres') ?? '' };
}

/** Starts a server before the tests of the file, if it is installed, and stops it after them. */
export function useOwnPostgres(options?: Parameters<typeof startPostgres>[0]): PostgresServer {
  let started: PostgresServer | null = null;
  beforeAll(() => {
    if (!NO_POSTGRES) started = startPostgres(options);
  });
  afterAll(() => started?.stop());
  const server = (): PostgresServer => {
    if (started === null) throw new Error('the server of the tests does not run');
    return started;
  };
  return {
    get url() {
      return server().url;
    },
    kill: () => server().kill(),
    pid: () => server().pid(),
    start: () => server().start(),
    stop: () => server().stop(),
  };
}
