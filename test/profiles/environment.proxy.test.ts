import { expect, it } from 'vitest';
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

it.each(['socks5://user:canary@p:1', 'http://user:canary@p:port', 'http://'])(
  'an invalid proxy is refused without its password: %s',
  (address) => {
    const act = () => proxySettings({ HTTPS_PROXY: address });
    expect(act).toThrow('HTTPS_PROXY is not the address');
    expect(act).not.toThrow('canary');
  },
);
