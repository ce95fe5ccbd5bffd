import { describe, expect, it } from 'vitest';
import { Failure } from '../../../src/base/failure.ts';
import { readS3Address } from '../../../src/service/storage/s3-address.ts';

const ENDPOINT = 'endpoint=https://s3.example.com';

describe('the address of a bucket', () => {
  it('names a bucket of AWS and its region', () => {
    expect(readS3Address('s3://videos?region=eu-central-1', {})).toMatchObject({
      prefix: '',
      url: 'https://videos.s3.eu-central-1.amazonaws.com',
      publicUrl: 'https://videos.s3.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
    });
    expect(readS3Address('s3://videos', { AWS_REGION: 'eu-west-1' }).region).toBe('eu-west-1');
  });

  it('names a bucket and a folder of another server, with its name in the path or in the host', () => {
    const { prefix, url, region } = readS3Address(`s3://videos/vloc/one?${ENDPOINT}`, {});
    expect([prefix, url, region]).toEqual(['vloc/one/', 'https://s3.example.com/videos', 'us-east-1']);
    expect(readS3Address(`s3://videos?${ENDPOINT}&style=virtual`, {}).url).toBe(
      'https://videos.s3.example.com',
    );
  });

  it('may have another endpoint for callers', () => {
    const address = 's3://videos?endpoint=http://minio:9000&public_endpoint=https://s3.example.com';
    expect(readS3Address(address, {})).toMatchObject({
      url: 'http://minio:9000/videos',
      publicUrl: 'https://s3.example.com/videos',
    });
  });

  it.each([
    ['videos', 'does not begin with s3://'],
    ['https://s3.example.com/videos', 'does not begin with s3://'],
    ['s3://', 'not the name of a bucket'],
    ['s3://Videos', 'not the name of a bucket'],
    ['s3://videos:9000', 'a port or a fragment'],
    ['s3://videos/a/../b%2F', 'letters, digits'],
    [`s3://videos?${ENDPOINT}&${ENDPOINT}`, 'the parameter endpoint twice'],
    ['s3://videos?endpoint=s3.example.com', 'endpoint must be scheme and host alone'],
    ['s3://videos?endpoint=https://user:hidden@s3.example.com', 'a user or a password'],
    ['s3://videos?endpoint=https://s3.example.com/path', 'endpoint must be scheme and host alone'],
    ['s3://videos?region=Europe%20West', 'the region has other characters'],
    ['s3://videos?style=other', 'style is neither path nor virtual'],
    ['s3://videos?secret_key=hidden', 'an unknown parameter "secret_key"'],
    ['s3://key:hidden@videos', 'a user or a password'],
    ['s3://videos?endpoint=http://minio:9000', 'without encryption'],
  ])('is refused with its reason: %s', (address, reason) => {
    let failure: unknown;
    try {
      readS3Address(address, {});
    } catch (error) {
      failure = error;
    }
    if (!(failure instanceof Failure)) throw failure ?? new Error('it was accepted');
    const { category, code, message, advice } = failure.facts;
    expect([category, code]).toEqual(['configuration', 'STORAGE_INVALID']);
    expect(message).toContain(reason);
    expect(advice).toBeDefined();
    expect(`${message} ${advice}`).not.toContain('hidden');
  });
});
