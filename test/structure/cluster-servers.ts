/** Setup before a run of `npm run test:cluster`: starts the servers that its files share. */
import type { TestProject } from 'vitest/node';
import { POSTGRES_PROGRAMS, startPostgres } from '../support/postgres.ts';
import { HAS_S3, startS3 } from '../support/s3.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of a database; null if PostgreSQL is not installed. */
    postgres: string | null;
    /** Endpoint of an S3 server; null if none is installed. */
    s3: string | null;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const database = POSTGRES_PROGRAMS === null ? null : startPostgres();
  const s3 = HAS_S3 ? await startS3(project.getProvidedContext().runFolder) : null;
  project.provide('postgres', database?.url ?? null);
  project.provide('s3', s3?.endpoint ?? null);
  return async () => {
    database?.stop();
    await s3?.stop();
  };
}
