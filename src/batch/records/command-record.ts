/** The commands of a batch, as the journal keeps them: without secrets. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { stripAddress, withoutSecrets } from './secrets.ts';

export interface BatchCommand {
  readonly type: 'batch_command';
  /** RFC 3339. */
  readonly at: string;
  /** The arguments as typed, without the program name. */
  readonly argv: readonly string[];
  /** The working directory, to which relative paths refer. */
  readonly cwd: string;
  /** Name of the machine. */
  readonly host?: string | undefined;
  /** The profile; null for one without a name. */
  readonly profile: string | null;
  readonly kind: JobKind;
  /** The parsed `argv`, including project defaults. */
  readonly operands: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
  /** True if each record of the command has only the items of one stage. */
  readonly partial?: boolean | undefined;
  /** Keys of the items, in the order of the batch. Items without a job have no other record. */
  readonly items: readonly string[];
  /** With `partial`, the names of all inputs, if those of earlier runs that are missing are inputs no more; it is not kept. */
  readonly names?: readonly string[] | undefined;
}

/** The same for all runs of a command. To leave out other files makes no other command. */
export function commandIdentity({
  argv,
  cwd,
  profile,
}: Pick<BatchCommand, 'argv' | 'cwd' | 'profile'>): string {
  const words = argv.filter((word, at) => !/^--exclude(=|$)/.test(word) && argv[at - 1] !== '--exclude');
  return JSON.stringify([words, cwd, profile]);
}

/** Keys of the items of earlier runs of a command. */
export function itemsOfBefore(commands: readonly BatchCommand[], command: BatchCommand): readonly string[] {
  const identity = commandIdentity(command);
  return commands.filter((each) => commandIdentity(each) === identity).flatMap(({ items }) => items);
}

/** The record of a run. Addresses in it, also after `--flag=` and `name=`, lose query and user. */
export function createBatchCommand(command: Omit<BatchCommand, 'type'>): BatchCommand {
  return {
    type: 'batch_command',
    ...command,
    argv: command.argv.map(stripWord),
    operands: command.operands.map(stripAddress),
    options: withoutSecrets(command.options),
  };
}

function stripWord(word: string): string {
  const [, name = '', value = word] = /^(-{0,2}\w[\w.-]*=)(.*)$/s.exec(word) ?? [];
  return `${name}${stripAddress(value)}`;
}
