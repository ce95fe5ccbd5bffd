/** Starts a service with its control interface. */
import { randomBytes } from 'node:crypto';
import type { Service, ServiceOptions } from '../options.ts';
import { startControlServer } from './server.ts';
import { type EngineSupply, openWorkspaces, type StartService } from './workspaces.ts';

/** 256 bits. */
const TOKEN_BYTES = 32;

/** The same as `createService`, with control. The service ends with its workspaces and its control interface. */
export async function startControlled(
  options: ServiceOptions,
  supply: EngineSupply,
  start: StartService,
): Promise<Service> {
  const { port = 0 } = typeof options.control === 'object' ? options.control : {};
  let origin = '';
  const workspaces = await openWorkspaces(options, supply, start, () => origin);
  const { service } = workspaces.root;
  const token = randomBytes(TOKEN_BYTES).toString('base64url');
  try {
    const server = await startControlServer(workspaces, { port, token });
    origin = server.origin;
    const control = { url: origin, token };
    const end = async () => {
      await server.close();
      await workspaces.closeAll();
    };
    let ended: Promise<void> | null = null;
    return {
      ...service,
      control,
      close() {
        ended ??= end();
        return ended;
      },
    };
  } catch (error) {
    // Its secrets are shown only by a start that succeeds.
    if (service.newKey !== null) await service.dropKey(service.newKey.key);
    await workspaces.closeAll();
    throw error;
  }
}
