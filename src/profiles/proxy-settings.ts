/** Proxies by the environment. Names in lower case win, as everywhere: servers cannot be made to set those. */

import type { ProxySettings } from '../client/index.ts';
import { Failure } from '../errors/failure.ts';
import { type Environment, type EnvironmentName, readVariable } from './environment.ts';

/**
 * The proxies of a run, undefined without any.
 * @throws Failure (`configuration`) for a proxy that is no http or https address
 */
export function proxySettings(env: Environment): ProxySettings | undefined {
  const http = proxyAddress(env, 'HTTP_PROXY');
  const https = proxyAddress(env, 'HTTPS_PROXY');
  if (http === '' && https === '') return undefined;
  return { http, https, noProxy: lookUp(env, 'NO_PROXY') ?? '' };
}

function lookUp(env: Environment, name: EnvironmentName): string | undefined {
  const small = env[name.toLowerCase()];
  return small === undefined || small === '' ? readVariable(env, name) : small;
}

function proxyAddress(env: Environment, name: EnvironmentName): string {
  const given = lookUp(env, name);
  if (given === undefined) return '';
  // As curl reads it: `proxy:3128` is http.
  const address = given.includes('://') ? given : `http://${given}`;
  const url = URL.canParse(address) ? new URL(address) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && url.hostname !== '') return address;
  throw new Failure({
    category: 'configuration',
    code: 'PROXY_INVALID',
    // The value may hold a password.
    message: `${name} is not the address of an http or https proxy`,
    advice: 'Write it as http://proxy.example.com:3128, or unset it.',
  });
}
