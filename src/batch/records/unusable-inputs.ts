/** Journal records of items whose file is not usable, as found by this machine or by the service. */
import type { BatchItem } from '../item.ts';

export interface UnusableRecord {
  readonly type: 'unusable_input';
  /** RFC 3339. */
  readonly at: string;
  /** Key of the item. */
  readonly item: string;
  readonly label: string;
  /** Why, and how to fix it. */
  readonly detail: string;
  /** Missing if found on this machine. */
  readonly code?: string | undefined;
}

/** @param atMs milliseconds since 1970  @param code of the service, if it refused the file */
export function createUnusableRecord(
  { key, label }: Pick<BatchItem, 'key' | 'label'>,
  detail: string,
  atMs: number,
  code?: string,
): UnusableRecord {
  const record = {
    type: 'unusable_input',
    at: new Date(atMs).toISOString(),
    item: key,
    label,
    detail,
  } as const;
  return code === undefined ? record : { ...record, code };
}

/** Written when the file has become usable, by runs that may write no other record of the item. */
export interface UsableRecord {
  readonly type: 'usable_input';
  readonly item: string;
}

export function createUsableRecord(item: string): UsableRecord {
  return { type: 'usable_input', item };
}

export interface CheckedInputs {
  /** Items that are not usable, by key, until a later run or request checks them again. */
  readonly unusable: ReadonlyMap<string, UnusableRecord>;
  /** Keys of items that have become usable and have no request since. */
  readonly usable: ReadonlySet<string>;
}
