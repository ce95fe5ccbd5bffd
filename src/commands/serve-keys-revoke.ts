import { type Command, defineCommand } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { writeCommand } from '../context/printed-command.ts';
import { Failure } from '../errors/failure.ts';
import { keyDocument, STATE_DIR, withKeys } from './serve-keys.ts';

export const serveKeysRevoke: Command = defineCommand({
  operands: { name: 'key', count: 'one', help: 'public identifier of the key' },
  options: { stateDir: STATE_DIR },
  examples: [
    {
      command: 'vloc serve keys revoke vk_Zm9vYmFyYmF6cXV4',
      explains: 'running services refuse the key immediately; its jobs continue',
    },
  ],
  run: async (context, [key = ''], { stateDir }) => {
    const revoked = await withKeys(context, { stateDir, make: false }, (desk) => desk.revoke(key));
    if (revoked === null) {
      throw new Failure({
        category: 'refused',
        code: 'KEY_NOT_FOUND',
        message: `there is no key "${key}" in this state folder`,
        advice: `List the keys: \`${listCommand(context, stateDir)}\`. --state-dir chooses another folder.`,
      });
    }
    const asJson = context.output === 'json' || context.output === 'ndjson';
    context.print(asJson ? JSON.stringify(keyDocument(revoked)) : revoked.key);
    context.terminal.note('Revoked: running services refuse it from now on.');
    return 0;
  },
});

function listCommand(context: Context, stateDir: string | undefined): string {
  const folder = stateDir === undefined ? [] : ['--state-dir', stateDir];
  return writeCommand(context, ['serve', 'keys', 'list', ...folder]);
}
