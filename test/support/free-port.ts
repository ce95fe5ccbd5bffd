/** Ports for servers of others, which cannot be told to choose one. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below these the system takes ports for connections and for servers that let it choose (Linux, `ip_local_port_range`). */
const LOWEST = 10_000;
const CHOSEN_BY_SYSTEM = 32_768;

/** A port of this machine that is free, and that no connection takes before the server listens. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (CHOSEN_BY_SYSTEM - LOWEST));
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
