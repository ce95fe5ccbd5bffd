import { stateFolder } from '../profiles/resolve.ts';
import type { IssuedKey } from '../service/index.ts';
import { type Command, defineCommand } from './command.ts';
import { type Context, Interruption } from './context.ts';

export const serve: Command = defineCommand({
  options: {
    host: { type: 'text', value: 'address', help: 'address to listen on (default: 127.0.0.1)' },
    port: { type: 'number', value: 'port', help: 'port to listen on (default: one that is free)' },
    stateDir: {
      type: 'text',
      value: 'dir',
      help: 'folder of the service (default: VLOC_STATE_DIR or the XDG state folder)',
    },
  },
  examples: [
    { command: 'vloc serve', explains: 'listen on a free port of this machine until Ctrl-C' },
    {
      command: 'vloc serve --port 8080 --output json',
      explains: 'the first line says the address and the keys',
    },
  ],
  notes: [
    'Ctrl-C lets running requests finish and hands unfinished jobs to whoever starts next on the same folder.',
  ],
  run: async (context, _operands, options) => {
    const [{ createService }, { createEngines }] = await Promise.all([
      import('../service/index.ts'),
      import('../engines/index.ts'),
    ]);
    const stateDir = options.stateDir ?? stateFolder(context.io.env, context.io.platform);
    const service = await createService({
      stateDir,
      engines: createEngines(),
      ...(options.host === undefined ? {} : { host: options.host }),
      ...(options.port === undefined ? {} : { port: options.port }),
    });
    const [keys = service.issueKey()] = service.keys();
    announce(context, service.url, keys, stateDir);
    await aborted(context.signal);
    context.terminal.note(
      'Draining: running requests finish, unfinished jobs go to the next one on this folder.',
    );
    await service.close();
    const { reason } = context.signal;
    // SIGTERM is how a supervisor stops a server: that is an orderly end, not a failure.
    if (reason instanceof Interruption) return 0;
    throw reason;
  },
});

function announce(context: Context, url: string, keys: IssuedKey, stateDir: string): void {
  const { key, secret, webhookSecret } = keys;
  switch (context.output) {
    case 'json':
    case 'ndjson':
      context.print(JSON.stringify({ base_url: url, key, secret, webhook_secret: webhookSecret }));
      break;
    case 'plain':
      context.print(url);
      break;
    case 'id':
      context.print(key);
      break;
    case 'table':
      context.print(`VLOC_BASE_URL=${url}`);
      context.print(`VLOC_KEY=${key}`);
      context.print(`VLOC_SECRET=${secret}`);
  }
  context.terminal.note(`Listening on ${url} (state in ${stateDir}). Ctrl-C stops it.`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
