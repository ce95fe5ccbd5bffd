/** The commands of a batch, as the journal keeps them: without secrets. */
import type { JobKind } from '../../protocol/kind-names.ts';
import { stripAddress, withoutSecrets } from '../records/secrets.ts';

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
