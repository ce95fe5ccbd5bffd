import { type Command, defineCommand } from '../context/command.ts';
import { JOB_KIND_NAMES } from '../protocol/kind-names.ts';
import type { KeyDescription } from '../service/auth/keys.ts';
import { keyDocument, STATE_DIR, withKeys } from './serve-keys.ts';

export const serveKeysList: Command = defineCommand({
  options: { stateDir: STATE_DIR },
  examples: [
    { command: 'vloc serve keys list', explains: 'all keys and their permissions, without their secrets' },
    { command: 'vloc serve keys list --output id', explains: 'the identifiers of the keys that work' },
  ],
  run: async (context, _operands, { stateDir }) => {
    const keys = await withKeys(context, { stateDir, make: false }, (desk) => desk.list());
    const { print } = context;
    switch (context.output) {
      case 'json':
        print(JSON.stringify(keys.map(keyDocument), null, 2));
        break;
      case 'ndjson':
        for (const key of keys) print(JSON.stringify(keyDocument(key)));
        print(JSON.stringify({ type: 'summary', keys: keys.length }));
        break;
      case 'plain':
        for (const key of keys) print(`${key.key} ${stateOf(key)}`);
        break;
      case 'id':
        for (const { key, revokedAt } of keys) if (revokedAt === null) print(key);
        break;
      case 'table':
        print(
          await context.terminal.table(
            ['KEY', 'STATE', 'PERMISSIONS', 'CREDITS A MONTH', 'FROM', 'CREATED'],
            keys.map(row),
          ),
        );
    }
    return 0;
  },
});

const stateOf = ({ revokedAt }: KeyDescription) => (revokedAt === null ? 'works' : 'revoked');

function row(key: KeyDescription): string[] {
  const all = JOB_KIND_NAMES.every((kind) => key.permissions.includes(kind));
  return [
    key.key,
    stateOf(key),
    all ? 'all' : key.permissions.join(', '),
    key.monthlyLimitCredits === null ? 'no limit' : String(key.monthlyLimitCredits),
    key.allowedAddresses.join(', ') || 'anywhere',
    new Date(key.createdAt).toISOString(),
  ];
}
