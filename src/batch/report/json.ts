/** A batch as one JSON document, for programs. */
import type { BatchFacts } from './batch-facts.ts';
import type { BatchCommand } from './command-record.ts';
import type { ReportHead } from './report-head.ts';

/** All facts under the names that they have everywhere; of a command what a person would type. */
export function reportDocument({ commands, ...facts }: BatchFacts, { folder, madeAt }: ReportHead): object {
  return {
    object: 'batch_report',
    folder,
    made_at: madeAt,
    ...facts,
    commands: commands.map(publicCommand),
  };
}

function publicCommand({ at, argv, cwd, profile }: BatchCommand): object {
  return { at, argv, cwd, profile };
}
