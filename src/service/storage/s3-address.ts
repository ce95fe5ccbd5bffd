/** The address of a bucket, as `--storage` and the setting `storage` name it. */

import { isLoopbackHost } from '../../base/addresses.ts';
import { configurationFailure, type Failure } from '../../base/failure.ts';

export interface S3Address {
  readonly bucket: string;
  /** Start of the names of all objects: empty, or it ends in `/`. */
  readonly prefix: string;
  /** URL of the bucket for the service itself, without a final slash. */
  readonly url: string;
  /** The same for callers, in presigned addresses. */
  readonly publicUrl: string;
  readonly region: string;
}

type Env = Readonly<Record<string, string | undefined>>;

const PARAMETERS = ['endpoint', 'public_endpoint', 'region', 'style'];

/** Source: Amazon S3, "General purpose bucket naming rules". */
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const FOLDER = /^(?:\/[A-Za-z0-9_-]+)*\/?$/;
const REGION = /^[a-z0-9-]{1,64}$/;

/**
 * Parses the address of a bucket.
 * @param env variables that name a region
 * @throws Failure (`configuration`, STORAGE_INVALID), which never contains a password
 */
export function readS3Address(address: string, env: Env): S3Address {
  // In any place: unencoded, a part of a password is taken for a folder or a parameter.
  if (address.includes('@')) {
    throw s3AddressFailure(
      'it contains a user or a password, which every user of the machine can read',
      'Remove them from the address, and set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.',
    );
  }
  const url = URL.parse(address);
  if (url === null || url.protocol !== 's3:') throw s3AddressFailure('it does not begin with s3://');
  const { hostname: bucket, pathname, searchParams: given } = url;
  if (url.port !== '' || url.hash !== '') throw s3AddressFailure('it has a port or a fragment');
  if (!BUCKET.test(bucket)) throw s3AddressFailure(`"${bucket.slice(0, 64)}" is not the name of a bucket`);
  if (!FOLDER.test(pathname))
    throw s3AddressFailure('the folder in the bucket may have letters, digits, - and _ only');
  const unknown = [...given.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    throw s3AddressFailure(
      `it has an unknown parameter "${unknown.slice(0, 40)}"`,
      `Use ${PARAMETERS.join(', ')}; ${KEYS}`,
    );
  }
  const twice = PARAMETERS.find((name) => given.getAll(name).length > 1);
  if (twice !== undefined) throw s3AddressFailure(`it has the parameter ${twice} twice`);
  const region = given.get('region') ?? env.AWS_REGION ?? 'us-east-1';
  if (!REGION.test(region)) throw s3AddressFailure('the region has other characters than a-z, 0-9 and -');
  const endpoint = given.get('endpoint');
  const style = given.get('style') ?? (endpoint === null ? 'virtual' : 'path');
  if (style !== 'path' && style !== 'virtual') throw s3AddressFailure('style is neither path nor virtual');
  const own = readEndpoint('endpoint', endpoint ?? `https://s3.${region}.amazonaws.com`);
  const shown = given.get('public_endpoint');
  const open = shown === null ? own : readEndpoint('public_endpoint', shown);
  if (open.protocol === 'http:' && !isLoopbackHost(open.hostname)) {
    throw s3AddressFailure(
      `callers would send videos to ${open.host} without encryption, which they refuse`,
      'Use an https endpoint, or name one for callers with public_endpoint.',
    );
  }
  const folder = pathname.replaceAll(/^\/|\/$/g, '');
  return {
    bucket,
    prefix: folder === '' ? '' : `${folder}/`,
    url: urlOf(own, bucket, style),
    publicUrl: urlOf(open, bucket, style),
    region,
  };
}

function readEndpoint(name: string, text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.origin !== text.replace(/\/$/, '')) {
    throw s3AddressFailure(
      `${name} must be scheme and host alone`,
      `Write it as ${name}=https://s3.example.com, without a path or a password.`,
    );
  }
  return url;
}

function urlOf({ protocol, host, origin }: URL, bucket: string, style: 'path' | 'virtual'): string {
  return style === 'path' ? `${origin}/${bucket}` : `${protocol}//${bucket}.${host}`;
}

const KEYS = 'keys come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.';

function s3AddressFailure(reason: string, advice?: string): Failure {
  return configurationFailure(
    'STORAGE_INVALID',
    `the address of the storage cannot be used: ${reason}`,
    advice ?? `Write it as s3://BUCKET?endpoint=https://s3.example.com&region=us-east-1; ${KEYS}`,
  );
}
