/** Several nodes of one service, behind one address that sends every connection to one of them at random. */
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import type { ServiceOptions } from '../../../src/service/index.ts';
import { type StartService, startService } from '../../../src/service/start.ts';

/** Of the proxy. */
const HOST = '127.0.0.1';

/** Of a node: it has the port of the proxy, on another address of this machine. */
const hostOf = (node: number) => `127.0.0.${2 + node}`;

/**
 * Returns what starts so many nodes instead of one. They share the clock, the faults and the engines.
 * @param random uniform in [0, 1), chooses the node of each connection
 */
export function startNodes(count: number, random: () => number): StartService {
  return async (options, supply) => {
    const proxy = createProxy(() => hostOf(Math.floor(random() * count)));
    const port = await listen(proxy);
    // As an operator sets it for nodes behind one address: it is in links and in the types of problems.
    const config = { ...options.config, publicOrigin: `http://${HOST}:${port}` };
    const start = (node: number) => {
      const own = { ...options, config, port, host: hostOf(node), stateDir: folderOf(options, node) };
      if (node === 0) return startService(own, supply);
      // The first one has shown the key, and ends the engines.
      const others = { engines: supply.engines, closeEngines: async () => {} };
      return startService({ ...own, wantsFirstKey: () => false }, others);
    };
    const first = await start(0);
    const nodes = [first];
    while (nodes.length < count) nodes.push(await start(nodes.length));
    const { service, context } = first;
    return {
      service: {
        ...service,
        async close() {
          proxy.close();
          for (const { service: each } of nodes.toReversed()) await each.close();
        },
      },
      // Only the clock of this process would move if others had the database; here all nodes have this one.
      context: { ...context, isShared: false },
    };
  };
}

/** Without a bucket, the nodes share the folder with uploads and results. */
function folderOf({ stateDir, storage }: ServiceOptions, node: number): string {
  return storage === undefined || node === 0 ? stateDir : join(stateDir, `node-${node}`);
}

/** Connects each caller to a host, and passes on bytes and ends as they come. */
function createProxy(chooseHost: () => string): Server {
  const server = createServer({ allowHalfOpen: true }, (caller) => {
    const node = connect({ port: caller.localPort ?? 0, host: chooseHost(), allowHalfOpen: true });
    caller.pipe(node).pipe(caller);
    caller.on('error', () => node.destroy());
    node.on('error', () => caller.destroy());
    // After an abrupt end there is no `end`.
    caller.on('close', (failed) => failed && node.destroy());
    node.on('close', () => caller.destroySoon());
  });
  return server;
}

/** Listens on a free port, and returns it. */
function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, HOST, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('the proxy has no port');
      resolve(address.port);
    });
  });
}
