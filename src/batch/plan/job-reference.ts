/** Operands that name a finished job, whose subtitle lines are the input of the next one. */
import { KINDS, type Kind } from '../../protocol/kinds.ts';
import { VERSION_PREFIX } from '../../protocol/operations.ts';

/** The kinds whose result has lines. */
const WITH_LINES = Object.entries<Kind>(KINDS).filter(([, kind]) =>
  Object.values(kind.result).some((part) => part.type === 'lines'),
);

/**
 * True for `rec_…`, `subtitle-recognitions/ID`, `subtitle_recognition/ID` and the detail_url of such a job. An id of
 * another form, as a hosted service may make them, is told from a file by the kind before it.
 */
export function namesJobWithLines(operand: string): boolean {
  const path = operand.startsWith(`${VERSION_PREFIX}/`) ? operand.slice(VERSION_PREFIX.length + 1) : operand;
  return WITH_LINES.some(
    ([name, kind]) =>
      new RegExp(`^${kind.idPrefix}_[A-Za-z0-9]+$`).test(path) ||
      [name, kind.path].some((first) => path.startsWith(`${first}/`) && !/\.\w+$/.test(path)),
  );
}

/** Names the results: the id, without what stands before it. */
export function stemOfJob(reference: string): string {
  return reference.split('/').at(-1) ?? reference;
}
