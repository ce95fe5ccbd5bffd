/** The statuses of jobs as lists in SQL. Queries and indexes are worded alike, because the databases would not use an index otherwise. */
import { isTerminal, JOB_STATUSES } from '../protocol/states.ts';

function listOf(statuses: readonly string[]): string {
  return `(${statuses.map((status) => `'${status}'`).join(', ')})`;
}

/** Of jobs that wait or run. */
export const OPEN_STATUSES = listOf(JOB_STATUSES.filter((status) => !isTerminal(status)));

/** Of jobs that will not change again. */
export const ENDED_STATUSES = listOf(JOB_STATUSES.filter(isTerminal));
