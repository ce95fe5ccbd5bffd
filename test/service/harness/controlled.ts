/** A service with its control interface, and requests to both. */
import type { ServiceOptions } from '../../../src/service/index.ts';
import { createCaller, exchange, type Reply } from './caller.ts';
import { startScene } from './scene.ts';

/** Starts one with small engines; it ends with the test. */
export async function startControlledService(options: Partial<ServiceOptions> = {}) {
  const { service, stateDir } = await startScene({ control: true, ...options });
  const { control, newKey } = service;
  if (control === null || newKey === null) throw new Error('the service has no control interface or no key');
  let ahead = 0;
  /** Sends a control request; an answer with a clock sets the time of signatures. */
  const ask = async (method: string, path: string, fields?: object, url = control.url): Promise<Reply> => {
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    const headers = {
      Authorization: `Bearer ${control.token}`,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    };
    const reply = await exchange(url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    ahead = reply.json?.offset_seconds ?? ahead;
    return reply;
  };
  const callerFor = (url: string, { key, secret }: { key: string; secret: string }) =>
    createCaller(url, { key, secret }, () => Date.now() + ahead * 1000);
  return { stateDir, service, control, newKey, ask, callerFor, caller: callerFor(service.url, newKey) };
}
