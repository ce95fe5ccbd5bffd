import { expect, it } from 'vitest';
import { Failure } from '../../src/base/failure.ts';
import { proxySettings } from '../../src/profiles/environment.ts';

it.each([
  [{}, undefined],
  [{ HTTPS_PROXY: '', NO_PROXY: 'a' }, undefined],
  [{ HTTPS_PROXY: 'http://p:1' }, { http: '', https: 'http://p:1', noProxy: '' }],
  [
    { HTTPS_PROXY: 'http://p:1', https_proxy: 'http://q:2' },
    { http: '', https: 'http://q:2', noProxy: '' },
  ],
  [
    { HTTP_PROXY: 'p:1', no_proxy: 'a,b' },
    { http: 'http://p:1', https: '', noProxy: 'a,b' },
  ],
])('the proxies of %j', (env, settings) => {
  expect(proxySettings(env)).toEqual(settings);
});

it.each([
  'socks5://user:canary@p:1',
  'http://user:canary@p:port',
  'http://',
  'http://user:50%canary@p:1',
  'http://100%:canary@p:1',
  'user:%canary@p:1',
  'http://domain\\canary:pw@p:1',
  'domain\\canary@p:1',
  'http://user:1/canary@p:1',
  'http://user:1#canary@p:1',
  'http://user:1?canary@p:1',
  'http:/canary:1',
  'https:/canary:1',
  'http:canary:1',
  'http:\\\\canary:1',
])('an invalid proxy is refused by the name of its variable, without its password: %s', (address) => {
  for (const name of ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY']) {
    const act = () => proxySettings({ [name]: address });
    expect(act).toThrow(`${name} is not the address`);
    expect(act).not.toThrow('canary');
  }
});

it('a user name or password that must be encoded is refused with what to write', () => {
  const advise = (address: string) => {
    try {
      return proxySettings({ HTTPS_PROXY: address });
    } catch (error) {
      return error instanceof Failure ? error.facts.advice : error;
    }
  };
  expect(advise('http://user:a%b@p:1')).toMatch(/% as %25, \\ as %5C, \/ as %2F/);
  expect(advise('http://corp\\user:pw@p:1')).toMatch(/\\ as %5C/);
  expect(advise('http:/p:1')).toMatch(/^Write it as http:\/\/proxy\.example\.com:3128, or unset it\.$/);
  expect(advise('http://corp%5Cuser:a%25b@p:1/')).toMatchObject({ https: 'http://corp%5Cuser:a%25b@p:1/' });
});
