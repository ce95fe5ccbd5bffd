/**
 * Two services with the engines of this machine in one process that a test can trace: one as users have it, one that may
 * call this machine. The state folder is the argument; the end of stdin ends both.
 */
import { join } from 'node:path';
import { createEngines } from '../../../src/engines/index.ts';
import { createService } from '../../../src/service/index.ts';

const folder = process.argv[2] ?? '';
const open = async (name: string, allowLoopback: boolean) => {
  const stateDir = join(folder, name);
  // A job whose source fails for the moment would be tried again; one attempt shows everything.
  const service = await createService({
    stateDir,
    allowLoopback,
    engines: createEngines(),
    config: { attempts: 1 },
  });
  return { service, stateDir, url: service.url, credentials: (await service.keys())[0] };
};
const [closed, loopback] = await Promise.all([open('closed', false), open('loopback', true)]);
const describe = ({ stateDir, url, credentials }: typeof closed) => ({ stateDir, url, credentials });
process.stdout.write(`${JSON.stringify({ closed: describe(closed), loopback: describe(loopback) })}\n`);
process.stdin.resume().on('end', () => Promise.all([closed.service.close(), loopback.service.close()]));
