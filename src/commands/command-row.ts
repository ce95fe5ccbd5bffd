/** What a row of the command tree is. */
import type { Command } from '../context/command.ts';

export interface CommandLeaf {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Command>;
  /** Commands below this one, which is itself a command. */
  readonly children?: readonly CommandLeaf[];
  /** Groups of commands below it. */
  readonly groups?: readonly CommandGroup[];
}

export interface CommandGroup {
  readonly name: string;
  readonly summary: string;
  readonly children: readonly CommandLeaf[];
}

export type CommandRow = CommandLeaf | CommandGroup;

export interface CommandSection {
  readonly title: string;
  readonly rows: readonly CommandRow[];
}
