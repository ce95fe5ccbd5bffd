import { describe, expect, test } from 'vitest';
import { fileSystemFailure } from '../../../src/base/system-error.ts';
import { TimeOver } from '../../../src/client/transport/http.ts';
import { describeNetworkError } from '../../../src/client/transport/network-error.ts';

const withCode = (code: string) =>
  Object.assign(new Error(`raw ${code} at 10.0.0.1?signature=canary`), { code });

describe('a network error', () => {
  test.each([
    ['ECONNREFUSED', 'temporary', 'CONNECTION_REFUSED'],
    ['ECONNRESET', 'temporary', 'CONNECTION_RESET'],
    ['UND_ERR_SOCKET', 'temporary', 'CONNECTION_RESET'],
    ['ENOTFOUND', 'temporary', 'HOST_NOT_FOUND'],
    ['EAI_AGAIN', 'temporary', 'NAME_LOOKUP_FAILED'],
    ['UND_ERR_CONNECT_TIMEOUT', 'temporary', 'CONNECT_TIMEOUT'],
    ['HPE_INVALID_CONSTANT', 'temporary', 'ANSWER_NOT_HTTP'],
    ['CERT_HAS_EXPIRED', 'configuration', 'TLS_CERTIFICATE'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'configuration', 'TLS_CERTIFICATE'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'configuration', 'TLS_CERTIFICATE'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'configuration', 'TLS_CERTIFICATE'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'configuration', 'TLS_PROTOCOL'],
    ['ESOMETHINGNEW', 'temporary', 'NETWORK_ERROR'],
  ])('%s is %s, %s: the host is named, the raw text is not', (raw, category, code) => {
    const { failure, advice } = describeNetworkError(withCode(raw), 'api.example.com');
    expect(failure.facts).toMatchObject({ category, code, retryable: category === 'temporary' });
    expect(failure.message).toContain('api.example.com');
    expect(failure.message).not.toContain('canary');
    expect(failure.facts.advice).toMatch(/\.$/);
    expect(advice.type).toBe(category === 'temporary' ? 'backoff' : 'never');
  });

  test('of several addresses is described by the first of them', () => {
    const both = new AggregateError([withCode('ECONNREFUSED'), withCode('ENETUNREACH')]);
    expect(describeNetworkError(both, 'h').failure.facts.code).toBe('CONNECTION_REFUSED');
  });

  test('may be in the cause, and may be a timeout alone', () => {
    const wrapped = new Error('wrapped', { cause: withCode('EAI_AGAIN') });
    expect(describeNetworkError(wrapped, 'h').failure.facts.code).toBe('NAME_LOOKUP_FAILED');
    expect(describeNetworkError(new TimeOver('late'), 'h').failure.facts.code).toBe('ANSWER_TIMEOUT');
    expect(describeNetworkError('text', 'h').failure.facts.code).toBe('NETWORK_ERROR');
  });

  test('is not assumed for a fault of the program', () => {
    const fault = new TypeError('undefined is not a function');
    expect(() => describeNetworkError(fault, 'h')).toThrow(fault);
    const argument = withCode('UND_ERR_INVALID_ARG');
    expect(() => describeNetworkError(argument, 'h')).toThrow(argument);
  });
});

test.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EIO', 'EUNKNOWN'])('%s is a disk failure', (code) => {
  const { facts } = fileSystemFailure(withCode(code), '/data/out.mp4');
  expect(facts).toMatchObject({ category: 'disk', code: 'DISK_ERROR', retryable: false });
  expect(facts.message).toContain('/data/out.mp4');
  expect(facts.message).not.toContain('canary');
});
