import { expect, test } from 'vitest';
import { createClient, Failure } from '../../../src/client/index.ts';
import { parseBaseUrl, resolveTransferUrl } from '../../../src/client/transport/request.ts';

test.each([
  'https://api.example.com/v1',
  'https://api.example.com/v1/',
  'http://127.0.0.1:8080/v1',
  'http://localhost/v1',
  'http://[::1]:1/v1',
])('%s is accepted', (url) => {
  expect(parseBaseUrl(url).gateway).toBe('');
});

test.each([
  'http://api.example.com/v1',
  'http://127.0.0.1.example.com/v1',
  'https://api.example.com',
  'https://api.example.com/v2',
  'https://api.example.com/v1?x=1',
  'https://user:pass@api.example.com/v1',
  'api.example.com/v1',
  'file:///v1',
  '',
])('%j is refused before anything is sent', (url) => {
  expect(() => parseBaseUrl(url)).toThrow(Failure);
});

test.each([
  ['example.com', 'invalid base URL "example.com": must start with https://'],
  [
    'http://example.com/v1',
    'invalid base URL "http://example.com/v1": must start with https://, except on this machine',
  ],
  ['https://example.com', 'invalid base URL "https://example.com": must end in /v1'],
  ['https://example.com/v1?key=k', 'invalid base URL: must not have a query or a fragment'],
])('the failure about %s says what the address must be', (url, message) => {
  expect(() => parseBaseUrl(url)).toThrow(expect.objectContaining({ message }));
});

test('a failure about the address does not repeat a password in it', () => {
  expect(() => parseBaseUrl('https://user:canary@api.example.com/v1')).not.toThrow(/canary/);
});

test.each([
  { key: '' },
  { secret: '' },
  { key: 'line\nbreak' },
  { headerPrefix: 'X-Service-' },
  { headerPrefix: 'X Service' },
  { headerPrefix: '' },
])('impossible settings are refused: %j', (wrong) => {
  const settings = { baseUrl: 'https://api.example.com/v1', key: 'key', secret: 'secret', ...wrong };
  expect(() => createClient(settings)).toThrow(Failure);
});

test.each([
  ['key', 'KEY_MISSING'],
  ['secret', 'SECRET_MISSING'],
  ['baseUrl', 'BASE_URL_INVALID'],
])('a variable that is not set is refused as %s before anything is sent', (name, code) => {
  const settings = { baseUrl: 'https://api.example.com/v1', key: 'key', secret: 'secret', [name]: undefined };
  expect(() => createClient(settings)).toThrow(expect.objectContaining({ code }));
});

test('files are sent to https, and to http only on this machine', () => {
  const hosted = parseBaseUrl('https://api.example.com/v1');
  const local = parseBaseUrl('http://127.0.0.1:8080/v1');
  expect(resolveTransferUrl(hosted, 'https://storage.example/x?y=1')?.href).toBe(
    'https://storage.example/x?y=1',
  );
  expect(resolveTransferUrl(hosted, '/files/x')?.href).toBe('https://api.example.com/files/x');
  expect(resolveTransferUrl(local, 'http://localhost:9/x')?.href).toBe('http://localhost:9/x');
  // A service elsewhere has no business with the ports of this machine.
  expect(resolveTransferUrl(hosted, 'http://127.0.0.1:6379/x')).toBeNull();
  expect(resolveTransferUrl(local, 'http://storage.example/x')).toBeNull();
  expect(resolveTransferUrl(local, 'javascript:alert(1)')).toBeNull();
});
