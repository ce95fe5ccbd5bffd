/** Nodes of one service over a real database and a real bucket, each with a state folder of its own. */
import { afterAll, beforeAll, inject } from 'vitest';
import { type Client, type ClientEvent, createClient } from '../../../src/client/index.ts';
import { type Scene, startScene } from '../../service/harness/scene.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { freshAccount, POSTGRES_PROGRAMS, type PostgresServer } from '../../support/postgres.ts';
import { accessS3, HAS_S3, S3_OWNER, type S3Access, type S3Server, startS3 } from '../../support/s3.ts';

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

let own: S3Server | null = null;
let buckets = 0;

/** Starts a storage for this file alone, whose tests may end it. Without this they use that of the run. */
export function useOwnStorage(): void {
  if (MISSING !== null) return;
  beforeAll(async () => {
    own = await startS3();
  });
  afterAll(async () => {
    await own?.stop();
    own = null;
  });
}

/** The storage that `useOwnStorage` has started. */
export function ownStorage(): S3Server {
  if (own === null) throw new Error('no storage was started');
  return own;
}

const database = { url: inject('postgres') ?? '' };
const common = accessS3(inject('s3') ?? '');

export function server(): { database: Pick<PostgresServer, 'url'>; s3: S3Access } {
  return { database, s3: own ?? common };
}

/** Makes an empty bucket and names an account that does not exist yet. */
export async function makeCluster(): Promise<BucketCluster> {
  const { s3 } = server();
  buckets += 1;
  const bucket = `bucket-${process.pid}-${buckets}`;
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
