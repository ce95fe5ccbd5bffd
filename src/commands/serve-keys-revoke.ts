import { Failure } from '../client/failure.ts';
import { type Command, defineCommand } from './command.ts';
import { keyDocument, STATE_DIR, withKeys } from './serve-keys.ts';

export const serveKeysRevoke: Command = defineCommand({
  operands: { name: 'key', count: 'one', help: 'public identifier of the key' },
  options: { stateDir: STATE_DIR },
  examples: [
    {
      command: 'vloc serve keys revoke vk_Zm9vYmFyYmF6cXV4',
      explains: 'running services refuse the key from now on; its jobs go on',
    },
  ],
  run: async (context, [key = ''], { stateDir }) => {
    const revoked = await withKeys(context, { stateDir, make: false }, (desk) => desk.revoke(key));
    if (revoked === null) {
      throw new Failure({
        category: 'refused',
        code: 'KEY_NOT_FOUND',
        message: `there is no key "${key}" in this state folder`,
        advice: 'See `vloc serve keys list`; --state-dir chooses another folder.',
      });
    }
    const asJson = context.output === 'json' || context.output === 'ndjson';
    context.print(asJson ? JSON.stringify(keyDocument(revoked)) : revoked.key);
    context.terminal.note('Revoked: running services refuse it from now on.');
    return 0;
  },
});
