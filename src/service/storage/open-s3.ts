/** Opens a bucket for one cluster: checks it before the service listens, and ties it to the database. */
import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { configurationFailure, type Failure } from '../../base/failure.ts';
import { errorCode } from '../../base/system-error.ts';
import { writeOnce } from '../folders.ts';
import { FOLDER_ID, OF_A_BUCKET } from '../store/open-postgres.ts';
import type { Statements, Store } from '../store/store.ts';
import { type Bucket, BucketRefusal, type BucketRequest, openBucket, type S3Credentials } from './bucket.ts';
import { readS3Address, type S3Address } from './s3-address.ts';
import { createS3Storage, type S3Parts } from './s3-storage.ts';
import { type ServiceStorage, StorageAway } from './storage.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** A bucket that the service may use. */
export interface OpenBucket {
  readonly bucket: Bucket;
  readonly address: S3Address;
  /**
   * Ties it to a cluster and returns it as the storage of the service.
   * @throws Failure (`configuration`) if it belongs to another cluster; then both the bucket and the store are closed
   */
  open(parts: ClusterParts): Promise<ServiceStorage>;
}

interface ClusterParts extends Omit<S3Parts, 'bucket' | 'prefix' | 'isOurs'> {
  readonly store: Store;
  /** The state folder of this node. */
  readonly root: string;
}

/**
 * Opens the bucket of an address and checks that the service may use it and that it is closed to the public.
 * @param env variables with the credentials
 * @param now the clock of this machine, in ms since 1970
 * @throws Failure (`configuration`); the bucket is as before
 */
export async function openCheckedBucket(
  text: string,
  env: Env,
  now: () => number = Date.now,
): Promise<OpenBucket> {
  const address = readS3Address(text, env);
  const bucket = openBucket(address, readCredentials(env), now);
  const shown = describeBucket(address);
  try {
    await checkRights(bucket, address, shown);
    return { bucket, address, open: (parts) => openStorage(bucket, address, parts) };
  } catch (error) {
    bucket.close();
    throw explainStorageError(error, shown);
  }
}

async function openStorage(
  bucket: Bucket,
  address: S3Address,
  { store, root, ...parts }: ClusterParts,
): Promise<ServiceStorage> {
  try {
    const isOurs = await tieToCluster(bucket, address, store, root);
    return createS3Storage({ ...parts, bucket, prefix: address.prefix, isOurs });
  } catch (error) {
    bucket.close();
    await store.close();
    throw error;
  }
}

function readCredentials(env: Env): S3Credentials {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: token,
  } = env;
  if (!accessKeyId || !secretAccessKey) {
    throw configurationFailure(
      'STORAGE_NO_CREDENTIALS',
      'there are no credentials for the storage',
      'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and AWS_SESSION_TOKEN if they are temporary.',
    );
  }
  return { accessKeyId, secretAccessKey, ...(token ? { sessionToken: token } : {}) };
}

/** For messages. An address has no password. */
function describeBucket({ url }: S3Address): string {
  return url;
}

/** Writes, reads, lists and removes an object, and tries to read it without credentials. */
async function checkRights(bucket: Bucket, { prefix }: S3Address, shown: string): Promise<void> {
  const key = prefix + CHECK + randomUUID();
  await sendEmpty(bucket, putText(key, 'Written by vloc at its start; may be removed.\n'));
  try {
    await bucket.read({ method: 'GET', key });
    for await (const _ of bucket.list(key)) break;
    await refuseIfPublic(bucket, key, prefix, shown);
  } finally {
    await sendEmpty(bucket, { method: 'DELETE', key });
  }
}

async function refuseIfPublic(bucket: Bucket, key: string, prefix: string, shown: string): Promise<void> {
  const query = { 'list-type': '2', prefix, 'max-keys': '1' };
  const asked: BucketRequest[] = [
    { method: 'GET', key, isAnonymous: true },
    { method: 'GET', key: '', query, isAnonymous: true },
  ];
  for (const request of asked) {
    const isOpen = await sendEmpty(bucket, request).then(
      () => true,
      (error: unknown) => {
        if (error instanceof BucketRefusal) return false;
        throw error;
      },
    );
    if (isOpen) {
      throw configurationFailure(
        'STORAGE_PUBLIC',
        `everybody can ${request.key === '' ? 'list' : 'read'} the objects of the bucket ${shown}, without credentials`,
        'Block public access to the bucket: it contains the videos of your users. Then start again.',
      );
    }
  }
}

/** Start of the names of objects that a start writes and removes. */
const CHECK = 'vloc.check-';
/** An object that says which cluster a bucket belongs to. */
const MARKER = 'vloc.cluster';

/** End of the id of a cluster in its database while the bucket has no marker yet. */
const UNCONFIRMED = '?';

/**
 * Ties a bucket, a database and the private folder of a node to one cluster. The first node of a new cluster ties an unused
 * bucket to an unused database.
 * @param root the state folder
 * @returns checks that the bucket still belongs to the cluster; throws StorageAway
 * @throws Failure (`configuration`) if one of them belongs to another cluster
 */
async function tieToCluster(
  bucket: Bucket,
  address: S3Address,
  store: Statements,
  root: string,
): Promise<() => Promise<void>> {
  const shown = describeBucket(address);
  const key = address.prefix + MARKER;
  try {
    const marker = await readMarker(bucket, key);
    const fresh = OF_A_BUCKET + randomUUID();
    // A bucket with a marker belongs to a database that knows it.
    if (marker === null) {
      await store.run('UPDATE vloc_version SET folder = ? WHERE folder IS NULL', fresh + UNCONFIRMED);
    }
    const row = await store.get<{ folder: string | null }>('SELECT folder FROM vloc_version');
    const folder = row?.folder ?? null;
    const own = folder?.startsWith(OF_A_BUCKET) === true ? folder.replace(UNCONFIRMED, '') : null;
    if (own === null) throw folder === null ? otherDatabaseFailure(shown) : databaseOfFolderFailure();
    if (marker !== null && marker !== own) throw otherDatabaseFailure(shown);
    if (marker === null && folder === own) throw otherBucketFailure(shown);
    if (marker === null) {
      await refuseForeign(bucket, address, shown);
      await writeMarker(bucket, key, own);
    }
    if ((await readMarker(bucket, key)) !== own) throw otherDatabaseFailure(shown);
    await store.run('UPDATE vloc_version SET folder = ? WHERE folder = ?', own, own + UNCONFIRMED);
    await refuseOtherNode(root, own);
    return async () => {
      if ((await readMarker(bucket, key)) === own) return;
      throw new StorageAway(`the bucket ${shown} no longer belongs to this cluster`);
    };
  } catch (error) {
    throw explainStorageError(error, shown);
  }
}

async function readMarker(bucket: Bucket, key: string): Promise<string | null> {
  try {
    return (await bucket.read({ method: 'GET', key })).trim();
  } catch (error) {
    if (error instanceof BucketRefusal && error.code === 'NoSuchKey') return null;
    throw error;
  }
}

/** Writes the marker unless another cluster does so first, if the storage can detect that. */
async function writeMarker(bucket: Bucket, key: string, own: string): Promise<void> {
  const put = putText(key, `${own}\n`);
  try {
    await sendEmpty(bucket, { ...put, headers: { ...put.headers, 'if-none-match': '*' } });
  } catch (error) {
    if (!(error instanceof BucketRefusal)) throw error;
    // Another node was faster.
    if (error.status === 412 || error.status === 409) return;
    if (error.status !== 501 && error.status !== 400) throw error;
    await sendEmpty(bucket, put);
  }
}

/** A state folder with work and stages of another cluster is refused. */
async function refuseOtherNode(root: string, own: string): Promise<void> {
  const path = join(root, FOLDER_ID);
  await writeOnce(path, own);
  if ((await readFile(path, 'utf8')) === own) return;
  throw configurationFailure(
    'STORAGE_OF_ANOTHER',
    `the state folder ${root} belongs to another cluster, or to a service without --storage`,
    'Choose an empty folder with --state-dir: it contains only temporary files of this node.',
  );
}

/** The sweep removes objects without a record, so the service must not share a folder of the bucket. */
async function refuseForeign(bucket: Bucket, { prefix }: S3Address, shown: string): Promise<void> {
  for await (const { key } of bucket.list(prefix)) {
    const name = key.slice(prefix.length);
    if (name.startsWith(CHECK) || name === MARKER) continue;
    throw configurationFailure(
      'STORAGE_FOREIGN',
      `the bucket ${shown} has objects of another program, such as ${JSON.stringify(key.slice(0, 80))}`,
      'Create a bucket for vloc alone, or name an empty folder in it: s3://BUCKET/FOLDER?…',
    );
  }
}

function otherDatabaseFailure(shown: string): Failure {
  return configurationFailure(
    'STORAGE_OF_ANOTHER',
    `the bucket ${shown} belongs to a cluster with another database`,
    `Check --storage and --database. If that cluster no longer exists, empty the bucket, with the object ${MARKER}.`,
  );
}

function otherBucketFailure(shown: string): Failure {
  return configurationFailure(
    'STORAGE_OF_ANOTHER',
    `the database belongs to a cluster with another bucket than ${shown}`,
    `Choose the bucket that its other nodes use. After a move, copy all objects, with ${MARKER}, before the start.`,
  );
}

function databaseOfFolderFailure(): Failure {
  return configurationFailure(
    'DATABASE_OF_ANOTHER',
    'the database belongs to a service that keeps uploads and results in a shared state folder',
    'Start it without --storage, or choose another database.',
  );
}

function putText(key: string, text: string): BucketRequest {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return {
    method: 'PUT',
    key,
    headers: { 'content-type': 'text/plain' },
    body: { bytes: bytes.length, sha256, open: () => Readable.from([bytes]) },
  };
}

/** Sends a request whose answer has no body of interest. */
async function sendEmpty(bucket: Bucket, request: BucketRequest): Promise<void> {
  const { body } = await bucket.send(request);
  body.resume();
}

const TRUST = 'Name its authority with NODE_EXTRA_CA_CERTS=FILE; do not switch verification off.';
const CERTIFICATE = ['has a certificate that cannot be verified', TRUST] as const;
const WRONG_KEYS = [
  'does not accept the credentials',
  'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN.',
] as const;
const WRONG_REGION = ['is in another region', 'Name its region in the address: region=REGION.'] as const;
const DENIED = [
  'refuses access',
  'The credentials need permission to read, write, list and delete objects: s3:GetObject, s3:PutObject, s3:ListBucket, s3:DeleteObject.',
] as const;

/** Reason and advice for each code of S3 or of the system. */
const REASONS: Readonly<Record<string, readonly [why: string, advice: string]>> = {
  NoSuchBucket: ['does not exist', 'Create it, for vloc alone and closed to the public, or check its name.'],
  InvalidBucketName: ['does not exist', 'Check its name.'],
  AccessDenied: DENIED,
  AllAccessDisabled: DENIED,
  InvalidAccessKeyId: WRONG_KEYS,
  SignatureDoesNotMatch: WRONG_KEYS,
  InvalidToken: WRONG_KEYS,
  ExpiredToken: WRONG_KEYS,
  AuthorizationHeaderMalformed: WRONG_REGION,
  PermanentRedirect: WRONG_REGION,
  TemporaryRedirect: WRONG_REGION,
  ECONNREFUSED: [
    'cannot be reached: nothing listens there',
    'Check the endpoint, and that the storage runs.',
  ],
  ENOTFOUND: ['cannot be reached: its host has no address', 'Check the endpoint.'],
  EAI_AGAIN: [
    'cannot be reached: the name of its host could not be looked up',
    'Check the endpoint and the network.',
  ],
  ETIMEDOUT: ['cannot be reached: it does not answer', 'Check the endpoint and the firewall.'],
  CERT_HAS_EXPIRED: CERTIFICATE,
  ERR_TLS_CERT_ALTNAME_INVALID: CERTIFICATE,
  SELF_SIGNED_CERT_IN_CHAIN: CERTIFICATE,
  DEPTH_ZERO_SELF_SIGNED_CERT: CERTIFICATE,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CERTIFICATE,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CERTIFICATE,
};

/** Returns the failure for an error of the storage; other errors as they are. */
function explainStorageError(error: unknown, shown: string): unknown {
  if (!(error instanceof StorageAway)) return error;
  const code = error instanceof BucketRefusal ? error.code : errorCode(error.cause);
  if (code === 'RequestTimeTooSkewed') {
    return configurationFailure(
      'CLOCK_SKEW',
      `the clock of this machine differs from that of the storage ${shown} by more than 15 minutes`,
      'Set the clock (NTP), then start again.',
      {},
      { cause: error },
    );
  }
  const [why, advice] = REASONS[code] ?? [
    `cannot be used: ${error.message}`,
    'Check the address, and that the storage runs and speaks the S3 protocol.',
  ];
  const message = `the bucket ${shown} ${why}`;
  return configurationFailure('STORAGE_UNUSABLE', message, advice, {}, { cause: error });
}
