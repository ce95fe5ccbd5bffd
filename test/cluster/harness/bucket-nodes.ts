/** Nodes of one service over a real database and a real bucket, each with a state folder of its own. */
import { afterAll, beforeAll } from 'vitest';
import { type Client, type ClientEvent, createClient } from '../../../src/client/index.ts';
import { type Scene, startScene } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import {
  freshAccount,
  POSTGRES_PROGRAMS,
  type PostgresServer,
  startPostgres,
} from '../../support/postgres.ts';
import { HAS_S3, S3_OWNER, type S3Server, startS3 } from '../../support/s3.ts';

/** What has to be installed for these tests; null if nothing is missing. */
export const MISSING =
  POSTGRES_PROGRAMS === null || !HAS_S3 ? 'needs postgresql and swift: sh .ci/packages' : null;

type NodeOptions = Partial<Parameters<typeof startScene>[0]>;

export interface BucketCluster {
  readonly bucket: string;
  /** The options that all its nodes have in common. */
  readonly options: { readonly database: string; readonly storage: string; readonly env: typeof S3_OWNER };
  /** Starts a node, by default one that answers requests and works. */
  node(options?: NodeOptions): Promise<Scene>;
}

let servers: { database: PostgresServer; s3: S3Server } | null = null;
let buckets = 0;

/** Starts the servers before the tests of a file, and ends them after. */
export function useServers(): void {
  if (MISSING !== null) return;
  beforeAll(async () => {
    servers = { database: startPostgres(), s3: await startS3() };
  });
  afterAll(async () => {
    servers?.database.stop();
    await servers?.s3.stop();
  });
}

export function server(): { database: PostgresServer; s3: S3Server } {
  if (servers === null) throw new Error('no servers were started');
  return servers;
}

/** Makes an empty bucket and names an account that does not exist yet. */
export async function makeCluster(): Promise<BucketCluster> {
  const { database, s3 } = server();
  buckets += 1;
  const bucket = `bucket-${buckets}`;
  await s3.createBucket(bucket);
  const options = { database: freshAccount(database), storage: s3.address(bucket), env: S3_OWNER };
  return {
    bucket,
    options,
    node: async (changed = {}) => startScene({ stateDir: makeFolder(), ...options, ...changed }),
  };
}

/** The client of users, for the first key of a service. */
export function clientOf(
  { service, credentials }: Scene,
  onEvent: (event: ClientEvent) => void = () => {},
): Client {
  return createClient({ baseUrl: service.url, ...credentials, onEvent });
}
