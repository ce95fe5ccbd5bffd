/** `vloc serve migrate`: moves an account between a state folder and a PostgreSQL database. */

import { resolve } from 'node:path';
import * as v from 'valibot';
import { type OptionTable, type OptionValues, textOption } from '../../base/option.ts';
import { readVariable, stateFolder } from '../../profiles/environment.ts';
import { type MovedAccount, moveAccount, undoMove } from '../../service/move/move-account.ts';
import type { PlaceName } from '../../service/move/places.ts';
import { type Command, defineCommand, invalidCallFailure } from '../context/command.ts';
import type { Context } from '../context/context.ts';
import { describeRecord } from '../context/output-schemas.ts';
import { writeCommand } from '../context/printed-command.ts';
import { printRecord, type RecordForm } from '../context/records.ts';
import { openStateFolder } from '../context/state-folder.ts';
import { refusePassword } from './serve-keys.ts';

const OPTIONS = {
  from: textOption(
    'place',
    'state folder or postgres://user@host/name that has the account (default: VLOC_DATABASE)',
  ),
  to: textOption(
    'place',
    'state folder or postgres://user@host/name without an account (default: VLOC_DATABASE)',
  ),
  stateDir: textOption(
    'dir',
    'folder of the uploads and results for the account in the database (default: the other folder)',
  ),
  storage: textOption(
    'url',
    'bucket of the uploads and results instead of a folder, as for `vloc serve` (default: VLOC_STORAGE)',
  ),
  undo: textOption(
    'place',
    'state folder or database whose account was moved away: use it again, in its state before the move',
  ),
} as const satisfies OptionTable;

type Options = OptionValues<typeof OPTIONS>;

const FIELDS = [
  'from',
  'to',
  'keys',
  'jobs',
  'uploads',
  'ledger_entries',
  'balance_credits',
  'reserved_credits',
  'files',
];

type Row = MovedAccount & { readonly from: string; readonly to: string };

const FORM: RecordForm<Row> = {
  plural: 'accounts',
  idOf: ({ to }) => to,
  columns: [
    { head: 'TO', field: 'to' },
    { head: 'KEYS', field: 'keys' },
    { head: 'JOBS', field: 'jobs' },
    { head: 'UPLOADS', field: 'uploads' },
    { head: 'BALANCE', field: 'balance_credits' },
    { head: 'RESERVED', field: 'reserved_credits' },
    { head: 'FILES', field: 'files' },
  ],
};

const MOVED_ACCOUNT = describeRecord(
  v.object({
    from: v.string(),
    to: v.string(),
    keys: v.number(),
    jobs: v.number(),
    uploads: v.number(),
    ledger_entries: v.number(),
    balance_credits: v.number(),
    reserved_credits: v.number(),
    files: v.number(),
  }),
);

export const serveMigrate: Command = defineCommand({
  options: OPTIONS,
  fields: () => FIELDS,
  examples: [
    {
      command: 'vloc serve migrate --from /var/lib/vloc --to postgres://vloc@db.example.com/vloc',
      explains: 'move the account from a state folder to PostgreSQL; files stay in the folder',
    },
    {
      command: 'vloc serve migrate --from postgres://vloc@db.example.com/vloc --to /var/lib/vloc',
      explains: 'move it back, into a folder without service.sqlite',
    },
    {
      command:
        'vloc serve migrate --from /var/lib/vloc --to postgres://vloc@db.example.com/vloc --storage s3://vloc-videos?region=eu-central-1',
      explains: 'move the uploads and results into a bucket as well',
    },
    {
      command: 'vloc serve migrate --undo /var/lib/vloc',
      explains: 'use the folder again, as it was when the account was moved away',
    },
  ],
  notes: [
    'First stop every vloc that uses the account. Everything in it is moved: keys, credits, jobs, uploads and undelivered webhooks. Rows and sums at both places are compared, then the source is marked as moved and no longer accepted.',
    'If interrupted, run it again; until it has finished, the account stays at the source.',
    'For the password of the database, set VLOC_DATABASE to the whole address and omit the option, or set PGPASSWORD, or write it into ~/.pgpass.',
  ],
  prints: MOVED_ACCOUNT,
  run: async (context, _operands, options) => {
    if (options.undo !== undefined) return undo(context, options.undo, options);
    const { from, to } = choosePlaces(context, options);
    const { now } = context.io;
    const moved = await openStateFolder(from.stateDir, '--from', () =>
      openStateFolder(to.stateDir, '--to', () => moveAccount(from, to, { now, signal: context.signal })),
    );
    await printRecord(context, FORM, { from: shownOf(from), to: shownOf(to), ...moved });
    const back = writeCommand(context, ['serve', 'migrate', '--undo', shownOf(from)]);
    context.terminal.note(
      `Moved and compared. The account at the old place is no longer used; to move it back: ${back}`,
    );
    return 0;
  },
});

async function undo(context: Context, name: string, options: Options): Promise<number> {
  if (options.from !== undefined || options.to !== undefined) {
    throw invalidCallFailure(
      '--undo cannot be combined with --from or --to',
      'Name the old place with --undo alone.',
    );
  }
  const { env, platform, cwd } = context.io;
  const stateDir = resolve(cwd, options.stateDir ?? stateFolder(env, platform));
  const place = readPlace(context, '--undo', name, { stateDir });
  const kept = await openStateFolder(place.stateDir, '--undo', () => undoMove(place));
  await printRecord(context, FORM, { from: shownOf(place), to: shownOf(place), ...kept });
  context.terminal.note(
    'Usable again. Do not use the copy at the other place: its jobs would be paid twice.',
  );
  return 0;
}

/** @throws Failure (`usage`) unless there are a folder and a database */
function choosePlaces(context: Context, options: Options): { from: PlaceName; to: PlaceName } {
  const { from, to, stateDir } = options;
  if (from === undefined && to === undefined) {
    throw invalidCallFailure('neither --from nor --to was given', 'Name the state folder with one of them.');
  }
  const names = {
    from: from ?? chosenDatabase(context, '--from'),
    to: to ?? chosenDatabase(context, '--to'),
  };
  const folder = [names.from, names.to].filter((name) => !isDatabase(name));
  if (folder[0] === undefined || folder.length !== 1) {
    throw invalidCallFailure(
      `--from and --to are both ${folder.length === 0 ? 'databases' : 'folders'}`,
      'Name a state folder and a database such as postgres://user@host/name.',
    );
  }
  const { cwd } = context.io;
  const files = { stateDir: resolve(cwd, stateDir ?? folder[0]), ...chooseBucket(context, options) };
  const read = (flag: string, name: string, given: string | undefined) =>
    given === undefined ? { database: name, ...files } : readPlace(context, flag, name, files);
  return { from: read('--from', names.from, from), to: read('--to', names.to, to) };
}

function chosenDatabase({ io }: Context, flag: string): string {
  const chosen = readVariable(io.env, 'VLOC_DATABASE');
  if (chosen !== undefined) return chosen;
  throw invalidCallFailure(
    `${flag} was not given`,
    `Add ${flag}, or set VLOC_DATABASE to the address of the database.`,
  );
}

const isDatabase = (name: string) => /^[a-z]+:\/\//i.test(name);

/** @throws Failure (`usage`) for a folder beside it */
function chooseBucket({ io }: Context, { storage, stateDir }: Options): Pick<PlaceName, 'storage'> {
  const address = storage ?? (stateDir === undefined ? readVariable(io.env, 'VLOC_STORAGE') : undefined);
  if (address === undefined) return {};
  if (stateDir === undefined) return { storage: { address, env: io.env } };
  throw invalidCallFailure(
    '--storage and --state-dir were both given',
    'Name where the files are with one of them.',
  );
}

function readPlace({ io }: Context, flag: string, name: string, files: PlaceName): PlaceName {
  return isDatabase(name)
    ? { ...files, database: refusePassword(flag, name) }
    : { stateDir: resolve(io.cwd, name) };
}

/** Never with the password that VLOC_DATABASE may have. */
function shownOf({ database, stateDir }: PlaceName): string {
  if (database === undefined) return stateDir;
  const url = new URL(database);
  url.password = '';
  url.searchParams.delete('password');
  return url.href;
}
